// SPDX-License-Identifier: GPL-2.0
/*
 * marker: execute one instruction that nothing else has, and which does
 * nothing.  The plugin of the emulator (scripts/icount) tells by it what part
 * of a run it has counted.
 */
int main(void)
{
	/* nopl 0x6b72616d(%rax), the displacement being "mark" */
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x6d, 0x61, 0x72, 0x6b");
	return 0;
}
