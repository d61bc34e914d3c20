import type {Dependent} from './dependent.ts'

/** Dependents of one kind, which a person judges together. */
export interface DependentGroup {
  /** The kind of its members, or what `--ignore` takes for all of them. */
  name: string
  /** What they have in common. */
  what: string
  count: number
  /** The names of the most urgent ones. */
  first: string[]
  /** When the last of them was seen, if that is known. */
  lastSeen?: string
  /** What has to be done about them. */
  todos: string[]
}

interface GroupText {
  what: string
  /** For a group of which each member would have a remedy of its own. */
  todo: string
}

/** Those of machines that have no Node any more, as `--ignore` takes them. */
export const UNREGISTERED_NODES = 'unregistered-nodes'

const GONE = 'for those that are out of use: --ignore <name>, or --ignore-unseen-since 7d'

const TEXTS: Readonly<Record<string, GroupText>> = {
  node: {
    what: 'nodes have not followed',
    todo: 'run "trustadm node renew" on each of these nodes; if a machine is gone, delete its Node',
  },
  client: {
    what: 'certificates were in use',
    todo: `give each of these users a new certificate or kubeconfig; once the old one is out of use, revoke it with "trustadm certificate revoke"; ${GONE}`,
  },
  token: {
    what: 'tokens of service accounts were in use',
    todo: `let these service accounts fetch new tokens: restart their pods, or create some with "kubectl create token"; ${GONE}`,
  },
  secret: {
    what: 'Secrets have old tokens',
    todo: 'delete these Secrets, if they are immutable, and create them again',
  },
  bootstrap: {
    what: 'bootstrap credentials have only the old CA or key',
    todo: 'put new ones into the images of your machines: "trustadm bootstrap-credential create"; then revoke these, or go on with --ignore <name>',
  },
  signer: {
    what: 'signers use old CAs',
    todo: 'let these signers use another CA: their --cluster-signing flags name it',
  },
  etcd: {
    what: 'members of etcd do not trust the new CA',
    todo: 'restart each of them, so that it trusts both CAs',
  },
  issued: {
    what: 'certificates were issued and never seen in use',
    todo: `find out which of these users still have them; revoke the others with "trustadm certificate revoke"; ${GONE}`,
  },
  [UNREGISTERED_NODES]: {
    what: 'certificates are of machines that have no Node',
    todo: `if these machines are gone, go on with --ignore ${UNREGISTERED_NODES}; if not, run "trustadm node renew" there`,
  },
  forgotten: {
    what: 'gaps are in what the servers know of their clients',
    todo: 'find out who is concerned; then go on with --ignore and their names, or with --ignore-unseen-since',
  },
}

const MOST_NAMES = 5
/** More remedies than this are one for the whole group. */
const MOST_TODOS = 3

const groupOf = ({group, kind}: Dependent): string => group ?? kind

function describe(name: string, members: readonly Dependent[]): DependentGroup {
  const text = TEXTS[name] ?? {what: name, todo: ''}
  const count = members.length
  const names = [...new Set(members.map((one) => one.name))]
  const todos = [...new Set(members.map(({todo}) => todo))]
  const lastSeen = members.reduce(
    (last, one) => ((one.lastSeen ?? '') > last ? (one.lastSeen ?? '') : last),
    '',
  )
  return {
    name,
    what: text.what,
    count,
    first: names.slice(0, MOST_NAMES),
    ...(lastSeen !== '' && {lastSeen}),
    todos: todos.length > MOST_TODOS && text.todo !== '' ? [text.todo] : todos,
  }
}

/** The same dependents in groups, in the same order. */
export function groupsOf(dependents: readonly Dependent[]): DependentGroup[] {
  const groups = new Map<string, Dependent[]>()
  for (const one of dependents) {
    const members = groups.get(groupOf(one))
    if (members) members.push(one)
    else groups.set(groupOf(one), [one])
  }
  return [...groups].map(([name, members]) => describe(name, members))
}

/** The first members of each group, and how many more it has. */
export const shortened = (
  dependents: readonly Dependent[],
): (DependentGroup & {shown: Dependent[]; more: number})[] =>
  groupsOf(dependents).map((group) => {
    const members = dependents.filter((one) => groupOf(one) === group.name)
    const shown = members.slice(0, MOST_NAMES)
    return {...group, shown, more: members.length - shown.length}
  })

/** As an error says it: a few one by one, of many their number and the first names. */
export const formatGroups = (dependents: readonly Dependent[]): string =>
  shortened(dependents)
    .flatMap(({what, count, first, todos, shown, more}) =>
      more === 0
        ? shown.map(
            ({kind, name, reasons, todo}) => `${kind} ${name}: ${reasons.join('; ')} → ${todo}`,
          )
        : [`${count} ${what}: ${first.join(', ')}, … → ${todos.join('; ')}`],
    )
    .join('\n')
