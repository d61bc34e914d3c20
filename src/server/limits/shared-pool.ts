/** A caller, and the group of callers that it shares with. */
export interface Member {
  group: string
  name: string
}

export interface SharedPoolOptions {
  total: number
  perHolder: number
  /** The part of the total that belongs to each group. Others may borrow it while the group does not need it. */
  shares: Readonly<Record<string, number>>
}

/** What a member holds, for as long as it likes. */
export interface Holding {
  /** Returns false if no more is available. */
  take(amount: number): boolean
  release(): void
}

interface Holder {
  name: string
  group: Group
  amount: number
  holdings: Set<Held>
}

interface Held {
  amount: number
  reclaim: () => void
}

interface Group {
  own: number
  taken: number
  holders: Map<string, Holder>
}

/**
 * A pool that many share and hold for long: watches, memory for uploads. What nobody needs is free for all. Once all is
 * taken, a group with less than its own part takes from the group that has borrowed most. Within a group, members with less
 * take from the member with most: its oldest holding is ended.
 */
export class SharedPool {
  readonly #options: SharedPoolOptions
  readonly #groups = new Map<string, Group>()
  #taken = 0

  constructor(options: SharedPoolOptions) {
    this.#options = options
    for (const [name, share] of Object.entries(options.shares)) {
      const own = Math.floor(options.total * share)
      this.#groups.set(name, {own, taken: 0, holders: new Map()})
    }
  }

  get taken(): number {
    return this.#taken
  }

  /** Members that hold something; the others take no memory. */
  get holders(): number {
    return [...this.#groups.values()].reduce((sum, {holders}) => sum + holders.size, 0)
  }

  /** Starts an empty holding. `reclaim` is called when the pool has ended it because others need its share. */
  open({group: groupName, name}: Member, reclaim: () => void): Holding {
    const group = this.#groups.get(groupName)
    if (group === undefined) throw new Error(`no such group: ${groupName}`)
    const holder = group.holders.get(name) ?? {name, group, amount: 0, holdings: new Set()}
    group.holders.set(name, holder)
    const held: Held = {amount: 0, reclaim}
    holder.holdings.add(held)
    return {
      take: (amount) => holder.holdings.has(held) && this.#take(holder, held, amount),
      release: () => this.#release(holder, held),
    }
  }

  #take(holder: Holder, held: Held, amount: number): boolean {
    if (holder.amount + amount > this.#options.perHolder) return false
    while (this.#taken + amount > this.#options.total) {
      const greediest = this.#greediest(holder, amount)
      if (greediest === undefined) return false
      this.#endOldest(greediest)
    }
    this.#add(holder, held, amount)
    return true
  }

  /** The member that must give something up for one that wants more; undefined if none must. */
  #greediest({group, amount: has}: Holder, amount: number): Holder | undefined {
    if (group.taken + amount <= group.own) {
      const borrowers = [...this.#groups.values()].filter(({taken, own}) => taken > own)
      return biggest(borrowers.sort((a, b) => b.taken - b.own - (a.taken - a.own))[0])
    }
    const most = biggest(group)
    return most !== undefined && most.amount > has + amount ? most : undefined
  }

  #add(holder: Holder, held: Held, amount: number): void {
    held.amount += amount
    holder.amount += amount
    holder.group.taken += amount
    this.#taken += amount
  }

  #endOldest(holder: Holder): void {
    for (const held of holder.holdings) {
      if (held.amount === 0) continue
      this.#release(holder, held)
      held.reclaim()
      return
    }
  }

  #release(holder: Holder, held: Held): void {
    if (!holder.holdings.delete(held)) return
    this.#add(holder, held, -held.amount)
    if (holder.holdings.size === 0) holder.group.holders.delete(holder.name)
  }
}

function biggest(group: Group | undefined): Holder | undefined {
  let most: Holder | undefined
  for (const holder of group?.holders.values() ?? []) {
    if (holder.amount > (most?.amount ?? 0)) most = holder
  }
  return most
}
