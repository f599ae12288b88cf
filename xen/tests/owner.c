/*
 * A domain that never runs, and owns what the hardware domain maps: pages, at
 * gfn 0 on, and a grant table, for the hardware domain to fill in.
 */
#include "grant.h"

#include <xen/domctl.h>

static domid_t owner = 1; /* where the hardware domain is the only one */

static long domctl(uint32_t cmd, xen_domctl_t *op)
{
    static uint32_t version = XEN_DOMCTL_INTERFACE_VERSION;

    op->cmd = cmd;
    op->domain = owner;
    return versioned_op(__HYPERVISOR_domctl, &op->cmd, &version);
}

static void create(void)
{
    xen_domctl_t op = {};
    uint32_t *emulation = &op.u.createdomain.arch.emulation_flags;
    long rc;

    /* Anything will do to learn the version. */
    domctl(XEN_DOMCTL_getdomaininfo, &op);

    /* Xen 4.19 put a word, of altp2m, in between grant_opts and arch. */
    if ( op.interface_version >= 0x17 )
        ++emulation;
    memset(&op.u, 0, sizeof(op.u));
    op.u.createdomain = (struct xen_domctl_createdomain) {
        .flags = XEN_DOMCTL_CDF_hvm | XEN_DOMCTL_CDF_hap,
        .max_vcpus = 1,
        .max_grant_frames = -1,
        .max_maptrack_frames = -1,
        .grant_opts = XEN_DOMCTL_GRANT_version(1),
    };
    *emulation = XEN_X86_EMU_LAPIC;
    rc = domctl(XEN_DOMCTL_createdomain, &op);
    if ( rc )
        panic("# domain for the pool: %ld", rc);
}

domid_t owner_create(uint64_t table_gfn)
{
    static xen_pfn_t gfns[NR_PAGES];
    xen_domctl_t op = { .u.max_mem.max_memkb = NR_PAGES * PAGE_SIZE / 1024 };
    xen_memory_reservation_t pages = { .nr_extents = NR_PAGES };
    xen_mem_acquire_resource_t table = {
        .type = XENMEM_resource_grant_table,
        .id = XENMEM_resource_grant_table_id_shared,
        .nr_frames = TABLE_FRAMES,
    };
    long rc;

    create();
    rc = domctl(XEN_DOMCTL_max_mem, &op);
    if ( rc )
        panic("# max_mem: %ld", rc);

    for ( unsigned int i = 0; i < NR_PAGES; ++i )
        gfns[i] = i;
    pages.domid = owner;
    set_xen_guest_handle(pages.extent_start, gfns);
    rc = memory_op(XENMEM_populate_physmap, &pages);
    if ( rc != NR_PAGES )
        panic("# %ld pages for the pool", rc);

    for ( unsigned int i = 0; i < TABLE_FRAMES; ++i )
        gfns[i] = table_gfn + i;
    table.domid = owner;
    set_xen_guest_handle(table.frame_list, gfns);
    rc = memory_op(XENMEM_acquire_resource, &table);
    if ( rc )
        panic("# grant table of the pool: %ld", rc);

    return owner;
}

/* A page takes the address of one that is Xen's own, which is let go of. */
void owner_displace(void)
{
    xen_add_to_physmap_t op = {
        .domid = owner,
        .space = XENMAPSPACE_grant_table,
        .gpfn = NR_PAGES,
    };
    long rc = memory_op(XENMEM_add_to_physmap, &op);

    CHECK(!rc, "grant table frame at gfn %u: %ld", NR_PAGES, rc);

    op.space = XENMAPSPACE_gmfn_range;
    op.size = 1;
    rc = memory_op(XENMEM_add_to_physmap, &op);
    CHECK(!rc, "moving gfn 0 to its place returned %ld", rc);
}

void owner_destroy(uint64_t table_gfn)
{
    xen_domctl_t op = {};
    long rc;

    for ( unsigned int i = 0; i < TABLE_FRAMES; ++i )
    {
        xen_remove_from_physmap_t frame = {
            .domid = DOMID_SELF,
            .gpfn = table_gfn + i,
        };

        rc = memory_op(XENMEM_remove_from_physmap, &frame);
        CHECK(!rc, "removing grant table frame %u returned %ld", i, rc);
    }

    rc = domctl(XEN_DOMCTL_destroydomain, &op);
    CHECK(!rc, "destroying the owner of the pool returned %ld", rc);
}

/* It goes with the last reference to any of its pages. */
bool owner_gone(void)
{
    return memory_op(XENMEM_current_reservation, &owner) == -XEN_ESRCH;
}
