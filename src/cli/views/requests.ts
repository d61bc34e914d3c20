import type {RequestChange} from '../../control-plane/requests/follow.ts'
import type {RequestList, RequestSummary} from '../../control-plane/requests/list.ts'
import type {CsrState} from '../../csr/conditions.ts'
import {ageOf} from '../../server/table/human-duration.ts'
import {fit, lineOf, widthsOf, type Narrowing, type Row} from '../columns.ts'
import {columnsOf, type Sized} from '../layout.ts'
import {toJson, toYaml, type View} from '../output.ts'
import {colours} from '../colours.ts'
import {NODE_SUBJECT, requestedDuration, shown, shownList, shownValue} from './requests-text.ts'

const HEAD = ['NAME', 'AGE', 'SIGNER', 'REQUESTER', 'SUBJECT', 'DURATION', 'STATE']
const WORDS = 'PAIRING WORDS'
const WIDE_HEAD = [...HEAD, 'NAMES', 'KEY', 'KEY PIN', 'EXPIRES']
const UNREADABLE = '<unreadable>'
const STATE = HEAD.indexOf('STATE')
const SIGNER = HEAD.indexOf('SIGNER')
const REQUESTER = HEAD.indexOf('REQUESTER')
const SUBJECT = HEAD.indexOf('SUBJECT')
const NARROWING: Narrowing = {
  least: new Map([
    [SIGNER, 8],
    [REQUESTER, 10],
    [SUBJECT, 26],
  ]),
  droppable: [HEAD.indexOf('DURATION'), REQUESTER, SIGNER],
  // The beginning of a name is still enough to recognize it; `--output name` has all of it.
  last: {
    least: new Map([
      [HEAD.indexOf('NAME'), 16],
      [SUBJECT, 16],
    ]),
    droppable: [HEAD.indexOf('AGE')],
  },
  cutFront: new Set([SIGNER, REQUESTER]),
  common: new Map([[SUBJECT, NODE_SUBJECT]]),
}

/** A row may also be about a request that was deleted. */
type RequestRow = Omit<RequestSummary, 'state'> & {state: CsrState | 'Deleted'}

function row(summary: RequestRow, now: Date): string[] {
  return [
    shown(summary.name),
    ageOf(summary.created, now),
    shown(summary.signer),
    shownValue(summary.requester),
    subjectOf(summary),
    requestedDuration(summary.requestedSeconds),
    summary.state,
  ]
}

function wideRow(summary: RequestRow, now: Date): string[] {
  const {request, expires} = summary
  const end = expires ?? '<none>'
  if (!request) return [...row(summary, now), ...Array<string>(3).fill(UNREADABLE), end]
  const {names, key} = request
  return [
    ...row(summary, now),
    shownList([...names.dns, ...names.ips, ...names.emails, ...names.uris]),
    keyName(key),
    key.pin,
    end,
  ]
}

const subjectOf = ({request}: RequestRow): string =>
  request ? subjectLine(request.subject) : UNREADABLE

export const keyName = ({algorithm, bits}: {algorithm: string; bits: number}): string =>
  algorithm === 'RSA' ? `RSA ${bits}` : algorithm

/** `CN=ada, O=developers`; no value can look like a second attribute. */
export function subjectLine(subject: {
  commonName: string
  organizations: readonly string[]
  other: readonly string[]
}): string {
  const parts = [
    ...(subject.commonName === '' ? [] : [`CN=${shownValue(subject.commonName)}`]),
    ...subject.organizations.map((one) => `O=${shownValue(one)}`),
    ...subject.other.map(shownValue),
  ]
  return parts.length === 0 ? '<empty>' : parts.join(', ')
}

const paintState = (stream: Sized) => {
  const paint = colours(stream)
  const byState: Record<CsrState, (text: string) => string> = {
    Pending: paint.yellow,
    Approved: paint.cyan,
    Denied: paint.red,
    Failed: paint.red,
    Issued: paint.green,
  }
  return (state: string): string => byState[state.trim() as CsrState]?.(state) ?? state
}

/** Who requests what, in one line. */
export function askedLine({
  name,
  requester,
  signer,
  request,
  pairingWords,
}: RequestSummary): string {
  const subject = request ? subjectLine(request.subject) : 'an unreadable request'
  const names = request ? [...request.names.dns, ...request.names.ips] : []
  const hosts = names.length === 0 ? '' : `, for ${names.map(shownValue).join(', ')}`
  const words = pairingWords ? `; pairing words: ${pairingWords}` : ''
  return `${shown(name)}: ${shownValue(requester)} requests ${subject}${hosts} from ${shown(signer)}${words}`
}

/** A table that is printed at once, or row by row during a watch. */
export class RequestTable {
  readonly #isWide: boolean
  readonly #stream: Sized
  #hasWords: boolean | undefined
  #widths: number[] | undefined

  /** Pairing words have a column if one of the first requests has some, or always. */
  constructor(
    isWide: boolean,
    {stream = process.stdout, hasWords}: {stream?: Sized; hasWords?: true} = {},
  ) {
    this.#isWide = isWide
    this.#stream = stream
    this.#hasWords = hasWords
  }

  /** The lines for these; the header comes before the first one. */
  add(summaries: readonly RequestRow[], now: Date): string {
    this.#hasWords ??= summaries.some(({pairingWords}) => pairingWords)
    const head = [...(this.#isWide ? WIDE_HEAD : HEAD), ...(this.#hasWords ? [WORDS] : [])]
    const rows: Row[] = summaries.map((one) => [
      ...(this.#isWide ? wideRow : row)(one, now),
      ...(this.#hasWords ? [one.pairingWords ?? ''] : []),
    ])
    const isFirst = this.#widths === undefined
    this.#widths ??= this.#fitted(widthsOf([head, ...rows]))
    const widths = this.#widths
    const paint = paintState(this.#stream)
    return [
      ...(isFirst ? [lineOf(head, widths)] : []),
      ...rows.map((one) =>
        lineOf(one, widths, {
          ...NARROWING,
          paint: (cell, index) => (index === STATE ? paint(cell) : cell),
        }),
      ),
    ].join('')
  }

  #fitted(widths: number[]): number[] {
    return this.#isWide ? widths : fit(widths, columnsOf(this.#stream), NARROWING)
  }
}

/** kubectl's columns, with the subject and the state as one word; `wide` adds what else was requested and issued. */
export const requestListView = (isWide: boolean, now: Date): View<RequestList> => ({
  table: ({requests}) => new RequestTable(isWide).add(requests, now),
  name: ({requests}) => requests.map(({name}) => shown(name)),
})

/** Changes as they happen: rows, or one document each. */
export class ChangePrinter {
  readonly #format: string
  readonly #table: RequestTable

  constructor(format: string) {
    this.#format = format
    this.#table = new RequestTable(format === 'wide', {hasWords: true})
  }

  async render(changes: readonly RequestChange[], now: Date): Promise<string> {
    switch (this.#format) {
      case 'json':
        return changes.map((change) => `${toJson(change)}\n`).join('')
      case 'yaml': {
        const documents = await Promise.all(changes.map(toYaml))
        return documents.map((document) => `---\n${document}`).join('')
      }
      case 'name':
        return changes.map(({request}) => `${shown(request.name)}\n`).join('')
      default:
        return this.#table.add(changes.map(rowOf), now)
    }
  }
}

const rowOf = ({change, request}: RequestChange): RequestRow =>
  change === 'deleted' ? {...request, state: 'Deleted'} : request
