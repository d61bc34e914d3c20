/** In long random runs no commit took more than 0.8 of what is counted here; the rest is caution. */
const MARGIN = 1.5

interface TreeStats {
  treeDepth: number
  treeBranchPageCount: number
  treeLeafPageCount: number
  overflowPages: number
}

/** What the library's getStats answers; its types leave it open. */
export interface LmdbStats extends TreeStats {
  pageSize: number
  lastPageNumber: number
  free: TreeStats
}

/**
 * The most pages that a commit can add. LMDB copies each page it changes: a record takes at most two leaves of its own or its
 * overflow pages, a removal the leaf it stands on, both the branches above, and the list of free pages may be written again.
 */
export function pagesFor(stats: LmdbStats, records: {bytes: Buffer}[], removals: number): number {
  const {pageSize, treeDepth, treeBranchPageCount, treeLeafPageCount, free} = stats
  const added = records.reduce(
    (pages, {bytes}) => pages + 3 + Math.ceil(bytes.length / pageSize),
    0,
  )
  const changed =
    treeDepth + (removals ? Math.min(removals, treeLeafPageCount) + treeBranchPageCount : 0)
  const list = free.treeBranchPageCount + free.treeLeafPageCount + free.overflowPages
  const most = added + changed + 2 * list + Math.ceil((added + changed) / 64) + 32
  return Math.ceil(most * MARGIN)
}
