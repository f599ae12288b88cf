/*
 * The PVH entry point, the boot page tables, the way in for further vCPUs,
 * and the interrupt stubs.
 */
#include <xen/elfnote.h>
#include "layout.h"

    .section .note.xen, "a", @note
    .balign 4
    .long   4, 4, XEN_ELFNOTE_PHYS32_ENTRY
    .asciz  "Xen"
    .long   start

    .text
    .code32
    .globl  start
start:
    cld
    mov     $boot_stack_top, %esp
    mov     %ebx, boot_info

    mov     $(CR4_PAE), %eax
    mov     %eax, %cr4
    mov     $pml4, %eax
    mov     %eax, %cr3

    mov     $MSR_EFER, %ecx
    rdmsr
    or      $EFER_LME, %eax
    wrmsr

    mov     $(CR0_PG | CR0_WP | CR0_PE), %eax
    mov     %eax, %cr0
    lgdt    gdt_desc
    ljmp    $KERNEL_CS, $1f

    .code64
1:  call    load_data_segments
    call    main
2:  hlt
    jmp     2b

/* VCPUOP_initialise starts a vCPU here in long mode, its number in %rdi. */
    .globl  ap_start
ap_start:
    lgdt    gdt_desc
    call    load_data_segments
    push    $KERNEL_CS
    push    $ap_main
    lretq

load_data_segments:
    mov     $KERNEL_DS, %eax
    mov     %eax, %ds
    mov     %eax, %es
    mov     %eax, %ss
    ret

/* Interrupt and exception stubs: each 16 bytes apart, see trap.c. */
    .balign 16
    .globl  trap_stubs
trap_stubs:
vector = 0
    .rept   256
    .balign 16
    /* The vectors that come with an error code of their own. */
    .if     (vector == 8) || ((vector >= 10) && (vector <= 14)) || (vector == 17) || (vector == 21)
    .else
    push    $0
    .endif
    push    $vector
    jmp     trap_common
vector = vector + 1
    .endr

trap_common:
    push    %rax
    push    %rcx
    push    %rdx
    push    %rsi
    push    %rdi
    push    %r8
    push    %r9
    push    %r10
    push    %r11
    mov     %rsp, %rdi
    cld
    call    do_trap
    pop     %r11
    pop     %r10
    pop     %r9
    pop     %r8
    pop     %rdi
    pop     %rsi
    pop     %rdx
    pop     %rcx
    pop     %rax
    add     $16, %rsp
    iretq

    .data
    .balign 8
gdt:
    .quad   0
    .quad   0x00af9b000000ffff      /* KERNEL_CS: 64-bit code */
    .quad   0x00cf93000000ffff      /* KERNEL_DS: flat data */
gdt_desc:
    .word   gdt_desc - gdt - 1
    .quad   gdt

/*
 * Virtual is physical: the low 4 GiB, and WINDOW, the 1 GiB of guest physical
 * addresses without RAM where grants are mapped.  Accessed and dirty bits are
 * set beforehand, so that a walk never writes.  FAULT_VA alone goes through
 * 4k entries, which main.c fills in.
 */
#define TABLE   0x63
#define LARGE   0xe3

    .macro  large_pages base
addr = \base
    .rept   512
    .quad   addr + LARGE
addr = addr + (1 << 21)
    .endr
    .endm

    .balign 4096
    .globl  pml4
pml4:
    .quad   pdpt + TABLE
    .fill   511, 8, 0
pdpt:
    .quad   pd_low + TABLE
    .quad   pd_low + 4096 + TABLE
    .quad   pd_low + 8192 + TABLE
    .quad   pd_low + 12288 + TABLE
    .fill   (FAULT_VA >> 30) - 4, 8, 0
    .quad   pd_fault + TABLE
    .fill   (WINDOW >> 30) - (FAULT_VA >> 30) - 1, 8, 0
    .quad   pd_window + TABLE
    .fill   511 - (WINDOW >> 30), 8, 0
pd_low:
    large_pages 0
    large_pages (1 << 30)
    large_pages (2 << 30)
    large_pages (3 << 30)
pd_window:
    large_pages WINDOW
pd_fault:
    .quad   pt_fault + TABLE
    .fill   511, 8, 0
    .globl  pt_fault
pt_fault:
    .fill   512, 8, 0

    .bss
    .balign 16
    .skip   16384
boot_stack_top:

    .section .note.GNU-stack, "", @progbits
