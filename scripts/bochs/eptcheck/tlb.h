// What one processor may still have cached of nested translations: all that it
// ever used, until something happened that has to invalidate it. No processor
// keeps that much, but the manuals let each of them. What invalidates what is
// said by EptTlb (ept_tlb.h) and NptTlb (npt_tlb.h); what is cached has a tag
// that says for whom, the EPT tables' root or the ASID.
#ifndef TLB_H
#define TLB_H

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

enum WalkEnd { WALK_OK, WALK_VIOLATION, WALK_MISCONFIG };

// A use of a guest-physical address, and what the tables said of it.
struct Walk {
  uint64_t gpa, hpa;
  unsigned level;   // of the last entry: 0 a 4 KiB page, 1 one of 2 MiB, 2 of 1 GiB
  unsigned wanted;  // access rights, as in an EPT entry
  unsigned allowed;
  WalkEnd end;
};

struct Cached {
  uint64_t base;      // host-physical, of the page as a whole
  unsigned level;
  unsigned rights;
  uint64_t agreed;    // when the tables last said the same
  uint64_t released;  // when what it leads to was given back since; 0: it was not
  uint64_t root;      // of the tables that it is from

  uint64_t frame(uint64_t gpa) const { return (base + (gpa & ((4096ull << 9 * level) - 1))) >> 12; }
};

class Tlb {
public:
  void reset() { contexts.clear(); }

  // A page has been given back: note it with each translation to it that is
  // cached still and that the tables do not hold any more, which
  // `agrees(root, gpa, frame)` tells. Returns how many there are.
  template <typename Agrees> unsigned release(uint64_t frame, uint64_t now, Agrees agrees)
  {
    unsigned found = 0;

    for (auto &each : contexts) {
      Context &context = each.second;
      std::vector<uint64_t> addresses;

      auto known = context.by_frame.find(frame);
      if (known != context.by_frame.end()) addresses = known->second;
      for (uint64_t gpa : addresses)
        for (Cached &cached : at(context, gpa, 0))
          if (cached.frame(gpa) == frame && !agrees(cached.root, gpa, frame)) {
            cached.released = now;
            found++;
          }

      // one of a large page's, whose others may be mapped still, on its own
      for (unsigned level = 1; level < LEVELS; level++)
        for (auto &place : context.places[level])
          for (const Cached &cached : place.second) {
            uint64_t offset = (frame << 12) - cached.base, gpa = (place.first << (12 + 9 * level)) + offset;

            if (offset < (4096ull << 9 * level) && !agrees(cached.root, gpa, frame)) {
              insert(context, gpa, {frame << 12, 0, cached.rights, cached.agreed, now, cached.root});
              found++;
            }
          }
    }
    return found;
  }

  size_t size() const
  {
    size_t total = 0;

    for (auto &context : contexts)
      for (unsigned level = 0; level < LEVELS; level++)
        for (auto &place : context.second.places[level]) total += place.second.size();
    return total;
  }

protected:
  // Every translation that the processor may use instead of the tables, though
  // these say something else by now. `covered`: there is one, stale or not.
  std::vector<Cached> use(uint64_t tag, uint64_t root, const Walk &walk, uint64_t now, bool *covered)
  {
    std::vector<Cached> stale;
    Context &context = contexts[tag];

    *covered = false;
    for (unsigned level = 0; level < LEVELS; level++) {
      for (Cached &cached : at(context, walk.gpa, level)) {
        if ((cached.rights & walk.wanted) != walk.wanted) continue;
        *covered = true;
        if (walk.end == WALK_OK && cached.frame(walk.gpa) == walk.hpa >> 12) {
          cached.agreed = now;
          cached.released = 0;
          cached.root = root;
        }
        else stale.push_back(cached);
      }
    }

    if (walk.end == WALK_OK) remember(context, root, walk, now);
    return stale;
  }

  // Whether nothing of that tag has been kept since it was dropped.
  bool begin(uint64_t tag)
  {
    size_t before = contexts.size();

    contexts[tag];
    return contexts.size() > before;
  }

  void drop(uint64_t tag) { contexts.erase(tag); }
  void drop(uint64_t tag, uint64_t gpa)
  {
    for (unsigned level = 0; level < LEVELS; level++) contexts[tag].places[level].erase(key(gpa, level));
  }

private:
  static const unsigned LEVELS = 3;
  typedef std::unordered_map<uint64_t, std::vector<Cached> > Places;  // by page number

  // Translations of one tag, by size of page. What was used as part of a large
  // page may be cached as the whole of it.
  struct Context {
    Places places[LEVELS];
    // Where a frame was found as a page of 4 KiB; it may not be there any more.
    std::unordered_map<uint64_t, std::vector<uint64_t> > by_frame;
  };
  std::unordered_map<uint64_t, Context> contexts;

  static uint64_t key(uint64_t gpa, unsigned level) { return gpa >> (12 + 9 * level); }

  static std::vector<Cached> &at(Context &context, uint64_t gpa, unsigned level)
  {
    static std::vector<Cached> none;
    Places::iterator found = context.places[level].find(key(gpa, level));

    return found == context.places[level].end() ? none : found->second;
  }

  static void remember(Context &context, uint64_t root, const Walk &walk, uint64_t now)
  {
    uint64_t base = walk.hpa & ~((4096ull << 9 * walk.level) - 1);

    for (Cached &cached : at(context, walk.gpa, walk.level))
      if (cached.base == base) {
        // With rights taken away the older translation stays beside the new one.
        cached.rights |= walk.allowed;
        cached.agreed = now;
        cached.released = 0;
        cached.root = root;
        return;
      }
    insert(context, walk.gpa, {base, walk.level, walk.allowed, now, 0, root});
  }

  static void insert(Context &context, uint64_t gpa, const Cached &cached)
  {
    context.places[cached.level][key(gpa, cached.level)].push_back(cached);
    if (cached.level) return;

    std::vector<uint64_t> &addresses = context.by_frame[cached.base >> 12];
    gpa &= ~4095ull;
    if (std::find(addresses.begin(), addresses.end(), gpa) == addresses.end()) addresses.push_back(gpa);
  }
};

#endif
