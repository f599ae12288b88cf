// The callbacks of eptcheck; all others are empty. See instrument.cc.
#if BX_INSTRUMENTATION

extern bool eptcheck_on;

void bx_instr_init_env(void);
void bx_instr_reset(unsigned cpu, unsigned type);
void bx_instr_outp(Bit16u addr, unsigned len, unsigned val);
void bx_instr_vmexit(unsigned cpu, Bit32u reason, Bit64u qualification);
void bx_instr_ept_walk(unsigned cpu, Bit64u eptp, bx_phy_address gpa, bx_phy_address hpa, unsigned level,
                       unsigned wanted, unsigned allowed, unsigned vmexit);
void bx_instr_invept_desc(unsigned cpu, unsigned type, Bit64u eptp);
void bx_instr_npt_walk(unsigned cpu, Bit64u ncr3, bx_phy_address gpa, bx_phy_address hpa, unsigned level,
                       unsigned wanted, unsigned allowed, bool fault);
void bx_instr_vmrun(unsigned cpu, unsigned asid, unsigned tlb_control);

#define BX_INSTR_INIT_ENV() bx_instr_init_env()
#define BX_INSTR_RESET(...) do { if (eptcheck_on) bx_instr_reset(__VA_ARGS__); } while (0)
#define BX_INSTR_OUTP(...) do { if (eptcheck_on) bx_instr_outp(__VA_ARGS__); } while (0)
#define BX_INSTR_VMEXIT(...) do { if (eptcheck_on) bx_instr_vmexit(__VA_ARGS__); } while (0)
#define BX_INSTR_EPT_WALK(...) do { if (eptcheck_on) bx_instr_ept_walk(__VA_ARGS__); } while (0)
#define BX_INSTR_INVEPT_DESC(...) do { if (eptcheck_on) bx_instr_invept_desc(__VA_ARGS__); } while (0)
#define BX_INSTR_NPT_WALK(...) do { if (eptcheck_on) bx_instr_npt_walk(__VA_ARGS__); } while (0)
#define BX_INSTR_VMRUN(...) do { if (eptcheck_on) bx_instr_vmrun(__VA_ARGS__); } while (0)

#else

#define BX_INSTR_INIT_ENV()
#define BX_INSTR_RESET(...)
#define BX_INSTR_OUTP(...)
#define BX_INSTR_VMEXIT(...)
#define BX_INSTR_EPT_WALK(...)
#define BX_INSTR_INVEPT_DESC(...)
#define BX_INSTR_NPT_WALK(...)
#define BX_INSTR_VMRUN(...)

#endif

#define BX_INSTR_EXIT_ENV(...)
#define BX_INSTR_INITIALIZE(...)
#define BX_INSTR_EXIT(...)
#define BX_INSTR_HLT(...)
#define BX_INSTR_MWAIT(...)
#define BX_INSTR_DEBUG_PROMPT(...)
#define BX_INSTR_DEBUG_CMD(...)
#define BX_INSTR_CNEAR_BRANCH_TAKEN(...)
#define BX_INSTR_CNEAR_BRANCH_NOT_TAKEN(...)
#define BX_INSTR_UCNEAR_BRANCH(...)
#define BX_INSTR_FAR_BRANCH(...)
#define BX_INSTR_OPCODE(...)
#define BX_INSTR_EXCEPTION(...)
#define BX_INSTR_INTERRUPT(...)
#define BX_INSTR_HWINTERRUPT(...)
#define BX_INSTR_CLFLUSH(...)
#define BX_INSTR_CACHE_CNTRL(...)
#define BX_INSTR_TLB_CNTRL(...)
#define BX_INSTR_PREFETCH_HINT(...)
#define BX_INSTR_BEFORE_EXECUTION(...)
#define BX_INSTR_AFTER_EXECUTION(...)
#define BX_INSTR_REPEAT_ITERATION(...)
#define BX_INSTR_LIN_ACCESS(...)
#define BX_INSTR_PHY_ACCESS(...)
#define BX_INSTR_INP(...)
#define BX_INSTR_INP2(...)
#define BX_INSTR_WRMSR(...)
