import {messageOf} from '../../errors.ts'
import {readFileIfThere} from '../../fs/files.ts'
import type {
  DeletedNode,
  Forgotten,
  SeenClientList,
  SeenList,
  StoredClient,
} from './seen-clients.ts'
import {readSeenLogs} from './seen-log.ts'

const MOST_BYTES = 64 * 1024 * 1024

type Fields = Partial<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

const TEXTS = ['fingerprint', 'issuerPin', 'user', 'serial', 'userAgent', 'address'] as const
const TIMES = ['firstSeen', 'lastSeen', 'notAfter'] as const

function isClient(value: unknown): value is StoredClient {
  return (
    isFields(value) &&
    TEXTS.every((field) => typeof value[field] === 'string') &&
    ['string', 'undefined'].includes(typeof value.holder) &&
    TIMES.every((field) => isTime(value[field])) &&
    Array.isArray(value.groups) &&
    value.groups.every((group) => typeof group === 'string')
  )
}

const isForgotten = (value: unknown): value is Forgotten =>
  isFields(value) &&
  typeof value.issuerPin === 'string' &&
  Number.isSafeInteger(value.count) &&
  isTime(value.lastSeen)

const isDeletedNode = (value: unknown): value is DeletedNode =>
  isFields(value) && typeof value.name === 'string' && isTime(value.time)

/** Undefined if it is not a list. What an earlier release dropped has no issuer and no time. */
function listOf(value: unknown, now: Date): SeenList | undefined {
  if (!isFields(value) || !Number.isSafeInteger(value.dropped)) return undefined
  const {clients, forgotten} = value
  const dropped = value.dropped as number
  if (!Array.isArray(clients) || !clients.every(isClient)) return undefined
  if (forgotten === undefined) {
    const unknown = {issuerPin: '', count: dropped, lastSeen: now.toISOString()}
    return {dropped, forgotten: dropped === 0 ? [] : [unknown], clients}
  }
  if (!Array.isArray(forgotten) || !forgotten.every(isForgotten)) return undefined
  return {dropped, forgotten, clients}
}

function parse(text: string, path: string, now: Date): SeenClientList {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is not JSON: ${messageOf(error)}`, {cause: error})
  }
  const list = listOf(value, now)
  const fields = isFields(value) ? value : {}
  const {since, tokens = {dropped: 0, clients: []}, deletedNodes = []} = fields
  const tokenList = listOf(tokens, now)
  const isWhole = Array.isArray(deletedNodes) && deletedNodes.every(isDeletedNode)
  if (list && tokenList && isTime(since) && isWhole)
    return {since: since as string, ...list, tokens: tokenList, deletedNodes}
  throw new Error(`${path} is not a list of clients`)
}

function withMore(list: SeenList, more: readonly Fields[], kind: string): SeenList {
  const newer: StoredClient[] = []
  for (const one of more) {
    const {kind: found, ...client} = one
    if (found === kind && isClient(client)) newer.push(client)
  }
  return {...list, clients: [...newer, ...list.clients]}
}

/** The Nodes whose deletion an earlier process has noted since it wrote the list. */
const deletedIn = (more: readonly Fields[]): DeletedNode[] =>
  more.flatMap(({kind, ...rest}) =>
    kind === 'deleted-node' && isDeletedNode(rest) ? [{name: rest.name, time: rest.time}] : [],
  )

/** What an earlier process has remembered, and whether its file has all of that; undefined if there is no list. */
export async function readStored(
  path: string,
  now: Date,
): Promise<{stored: SeenClientList; isWhole: boolean} | undefined> {
  const content = await readFileIfThere(path, {maxBytes: MOST_BYTES})
  const more = (await readSeenLogs(path)).filter(isFields)
  if (content === undefined && more.length === 0) return undefined
  const empty = {dropped: 0, forgotten: [], clients: []}
  const stored =
    content === undefined
      ? {since: now.toISOString(), ...empty, tokens: empty}
      : parse(content.toString(), path, now)
  if (more.length === 0) return {stored, isWhole: true}
  const together = {
    ...stored,
    ...withMore(stored, more, 'client'),
    tokens: withMore(stored.tokens, more, 'token'),
    deletedNodes: [...(stored.deletedNodes ?? []), ...deletedIn(more)],
  }
  return {stored: together, isWhole: false}
}
