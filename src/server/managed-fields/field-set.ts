import {fieldElement, type PathElement, sortElements} from './path-element.ts'

/**
 * An immutable set of field paths, as a tree. Operations return new sets, which share what they can, or the same set if
 * nothing changes.
 */
export interface FieldSet {
  /** The path to this node is in the set. */
  readonly self: boolean
  readonly children: ReadonlyMap<PathElement, FieldSet>
}

const NO_CHILDREN: ReadonlyMap<PathElement, FieldSet> = new Map()

export const EMPTY_SET: FieldSet = {self: false, children: NO_CHILDREN}

export const LEAF: FieldSet = {self: true, children: NO_CHILDREN}

/** A node; no child may be empty. */
export function node(
  self: boolean,
  children: ReadonlyMap<PathElement, FieldSet> | undefined,
): FieldSet {
  if (children !== undefined && children.size > 0) return {self, children}
  return self ? LEAF : EMPTY_SET
}

export const isEmptySet = (set: FieldSet): boolean => !set.self && set.children.size === 0

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left
  if (isEmptySet(left)) return right
  let children: Map<PathElement, FieldSet> | undefined
  for (const [element, other] of right.children) {
    const mine = left.children.get(element)
    const both = mine === undefined ? other : union(mine, other)
    if (both === mine) continue
    children ??= new Map(left.children)
    children.set(element, both)
  }
  const self = left.self || right.self
  if (children === undefined && self === left.self) return left
  return node(self, children ?? left.children)
}

/** The union of many sets at once: one after the other, each step would copy all previous ones. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = EMPTY_SET, ...others] = sets.filter((set) => !isEmptySet(set))
  if (others.length < 2) return others.reduce(union, first)
  const below = new Map<PathElement, FieldSet[]>()
  for (const {children} of [first, ...others]) {
    for (const [element, child] of children) {
      const same = below.get(element)
      if (same === undefined) below.set(element, [child])
      else same.push(child)
    }
  }
  const children = new Map(Array.from(below, ([element, same]) => [element, unionOf(same)]))
  return node(
    [first, ...others].some(({self}) => self),
    children,
  )
}

/** Without the paths of the other set; paths below those stay. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, false)
}

/** Without the paths of the other set and everything below them. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, true)
}

function subtract(left: FieldSet, right: FieldSet, recursive: boolean): FieldSet {
  if (isEmptySet(right) || isEmptySet(left)) return left
  if (recursive && right.self) return EMPTY_SET
  let children: Map<PathElement, FieldSet> | undefined
  for (const [element, mine] of left.children) {
    const other = right.children.get(element)
    if (other === undefined) continue
    const rest = subtract(mine, other, recursive)
    if (rest === mine) continue
    children ??= new Map(left.children)
    if (isEmptySet(rest)) children.delete(element)
    else children.set(element, rest)
  }
  const self = left.self && !right.self
  if (children === undefined && self === left.self) return left
  return node(self, children ?? left.children)
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left
  let children: Map<PathElement, FieldSet> | undefined
  for (const [element, mine] of left.children) {
    const other = right.children.get(element)
    if (other === undefined) continue
    const both = intersection(mine, other)
    if (isEmptySet(both)) continue
    children ??= new Map()
    children.set(element, both)
  }
  return node(left.self && right.self, children)
}

export function equalSets(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true
  if (left.self !== right.self || left.children.size !== right.children.size) return false
  for (const [element, mine] of left.children) {
    const other = right.children.get(element)
    if (other === undefined || !equalSets(mine, other)) return false
  }
  return true
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let here: FieldSet | undefined = set
  for (const element of path) {
    here = here.children.get(element)
    if (here === undefined) return false
  }
  return here.self
}

export const sortedElements = (set: FieldSet): PathElement[] =>
  sortElements([...set.children.keys()])

/** Every path of the set, in Kubernetes' order: those that end at a level before those that go deeper. */
export function pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): PathElement[][] {
  const elements = sortedElements(set)
  const here = elements.filter((element) => set.children.get(element)?.self)
  const below = elements.flatMap((element) =>
    pathsOf(set.children.get(element) ?? EMPTY_SET, [...prefix, element]),
  )
  return [...here.map((element) => [...prefix, element]), ...below]
}

export const setOfPath = (path: readonly PathElement[]): FieldSet =>
  path.reduceRight((below, element) => node(false, new Map([[element, below]])), LEAF)

/** A set of paths of field names, such as `[['status'], ['metadata', 'name']]`. */
export const fieldSetOf = (paths: readonly (readonly string[])[]): FieldSet =>
  paths.map((path) => setOfPath(path.map(fieldElement))).reduce(union, EMPTY_SET)
