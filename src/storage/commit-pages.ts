/** In long random runs no commit took more than 0.8 of this estimate; the rest is a safety margin. */
const MARGIN = 1.5

interface TreeStats {
  treeDepth: number
  treeBranchPageCount: number
  treeLeafPageCount: number
  overflowPages: number
}

/** What the library's getStats returns; its types do not say. */
export interface LmdbStats extends TreeStats {
  pageSize: number
  lastPageNumber: number
  free: TreeStats
}

/**
 * The most pages that a commit can add. LMDB copies each page it changes: a record takes at most two leaves or its overflow
 * pages, a removal takes the leaf of the record, and both take the branches above. The list of free pages may be written
 * again.
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
