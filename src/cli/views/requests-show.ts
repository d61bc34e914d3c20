import type {RequestReport} from '../../control-plane/requests/show.ts'
import type {IssuedCertificate} from '../../control-plane/requests/decode.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'
import {ageOf, humanDuration} from '../../server/table/human-duration.ts'
import {columnsOf, formatFields, paragraph, type Field, type Sized} from '../layout.ts'
import type {View} from '../output.ts'
import {colours} from '../colours.ts'
import {adminWarning, ruleText} from './requests-warnings.ts'
import {keyName, subjectLine} from './requests.ts'
import {shown, shownList, shownValue} from './requests-text.ts'

type Opinions = NonNullable<RequestReport['approvers']>

const LABEL_WIDTH = 14
const SENTENCES: Record<Opinions[number]['decision'], string> = {
  approve: 'would approve it',
  hold: 'leaves it to a person',
  deny: 'would deny it',
  ignore: 'does not handle it',
}

const agoOf = (time: string | null | undefined, now: Date): string =>
  time ? `${ageOf(time, now)} ago (${shown(time)})` : '<unknown>'

const isEmpty = (names: Readonly<SubjectNames>): boolean =>
  names.dns.length + names.ips.length + names.emails.length + names.uris.length === 0

const nameFields = (names: Readonly<SubjectNames>): Field[] =>
  isEmpty(names)
    ? [['names', '<none>']]
    : (
        [
          ['DNS names', names.dns],
          ['addresses', names.ips],
          ['emails', names.emails],
          ['URIs', names.uris],
        ] as const
      )
        .filter(([, values]) => values.length > 0)
        .map(([label, values]) => [label, shownList(values)] as const)

/** How a report is laid out on one stream. */
class Page {
  readonly paint: ReturnType<typeof colours>
  readonly #columns: number

  constructor(stream: Sized) {
    this.paint = colours(stream)
    this.#columns = columnsOf(stream)
  }

  fields(fields: readonly Field[], indent = 0): string {
    const {dim} = this.paint
    return formatFields(fields, {columns: this.#columns, width: LABEL_WIDTH, indent, paint: dim})
  }

  section(title: string, content: string): string {
    return content === '' ? '' : `\n${this.paint.bold(title)}\n${content}`
  }

  item = (mark: string, text: string, indent = 2): string =>
    paragraph(`${' '.repeat(indent)}${mark} `, text, this.#columns, indent + 2)
}

function stateText({state}: RequestReport, {paint}: Page): string {
  if (state === 'Issued') return paint.green(state)
  if (state === 'Approved') return paint.cyan(state)
  return state === 'Pending' ? paint.yellow(state) : paint.red(state)
}

/** When, by whom and why. */
function revokedFields({revoked}: RequestReport, now: Date, {paint}: Page): Field[] {
  if (!revoked) return []
  const {revoked: time, by, reason} = revoked
  const parts = [
    time === null ? 'yes' : agoOf(time, now),
    ...(by === null ? [] : [`by ${shownValue(by)}`]),
  ]
  const why = reason === null ? '' : `: ${shown(reason)}`
  return [['revoked', paint.red(`${parts.join(' ')}${why}`)]]
}

function warningSection(report: RequestReport, {paint, item}: Page): string {
  const warning = adminWarning(report)
  return warning === undefined ? '' : item(paint.red('!'), paint.red(warning))
}

function requestSection({request, usages, requestedSeconds}: RequestReport, page: Page): string {
  const asked: Field[] = [
    ['usages', usages.map(shown).join(', ') || '<none>'],
    [
      'duration',
      requestedSeconds === null ? "the signer's default" : humanDuration(requestedSeconds * 1000),
    ],
  ]
  if (!request) return page.fields(asked, 2)
  return page.fields(
    [
      ['subject', subjectLine(request.subject)],
      ...nameFields(request.names),
      ['key', keyName(request.key)],
      ['key pin', request.key.pin],
      ['signature', request.signatureAlgorithm],
      ...asked,
    ],
    2,
  )
}

function approverSection({approvers}: RequestReport, page: Page): string {
  return (approvers ?? []).map((opinion) => opinionText(opinion, page)).join('')
}

/** The opinions of approvers on a request that does not exist: `certificate simulate`. */
export function formatOpinions(opinions: Opinions, stream: Sized = process.stdout): string {
  const page = new Page(stream)
  return opinions.map((opinion) => opinionText(opinion, page)).join('')
}

function opinionText(opinion: Opinions[number], page: Page): string {
  const {green, yellow, red, dim} = page.paint
  const {approver, decision, rules, reason} = opinion
  const sentence = `${shown(approver)} ${SENTENCES[decision]}`
  // A request that no approver handles is no reason for alarm.
  if (decision === 'ignore') return page.item(dim('·'), dim(`${sentence}: ${otherKind(opinion)}`))
  const heads = {approve: green('✔'), hold: yellow('!'), deny: red('✖')}
  const word = reason === undefined ? '' : ` (${shown(reason)})`
  const marks = rules.map((rule) =>
    page.item(rule.holds ? green('✔') : red('✖'), ruleText(rule), 4),
  )
  return page.item(heads[decision], sentence + word) + marks.join('')
}

/** A request to another signer fails most rules; the one about the signer is enough. */
function otherKind({rules}: Opinions[number]): string {
  const broken = rules.filter(({holds}) => !holds)
  const ofSigner = broken.filter(({code}) => code === 'signer')
  const told = ofSigner.length > 0 ? ofSigner : broken
  return told.map(({reason}) => shown(reason)).join('; ')
}

function signerSection({signer, signerProblems}: RequestReport, page: Page): string {
  const {green, red} = page.paint
  if (signerProblems === null) {
    return page.item('·', `it is not known what ${shown(signer)} permits`)
  }
  return signerProblems.length === 0
    ? page.item(green('✔'), `${shown(signer)} permits this request`)
    : signerProblems.map((one) => page.item(red('✖'), shown(one))).join('')
}

function conditionSection({conditions}: RequestReport, now: Date, page: Page): string {
  const {green, red} = page.paint
  return conditions
    .map(({type, reason = '', message = '', lastUpdateTime}) => {
      const mark = type === 'Approved' ? green('✔') : red('✖')
      const why = [reason, message].filter((text) => text !== '').map(shown)
      return page.item(mark, [`${shown(type)} ${agoOf(lastUpdateTime, now)}`, ...why].join(': '))
    })
    .join('')
}

function certificateSection(certificate: IssuedCertificate, page: Page): string {
  const {serial, subject, names, issuer, notBefore, notAfter, fingerprint, chain} = certificate
  return page.fields(
    [
      ['serial', serial],
      ['subject', subjectLine(subject)],
      ...(isEmpty(names) ? [] : nameFields(names)),
      ['issuer', subjectLine(issuer)],
      ['valid from', notBefore],
      ['valid until', notAfter],
      ['SHA-256', fingerprint],
      ...(chain === 0
        ? []
        : [['chain', `${chain} more ${chain === 1 ? 'certificate' : 'certificates'}`] as const]),
    ],
    2,
  )
}

const eventSection = ({events}: RequestReport, now: Date, page: Page): string =>
  (events ?? [])
    .map(({time, type, reason, message, from, count}) => {
      const often = count > 1 ? ` ×${count}` : ''
      const who = from === '' ? '' : ` (${shown(from)})`
      const mark = type === 'Warning' ? page.paint.yellow('!') : '·'
      return page.item(
        mark,
        `${ageOf(time, now)} ago${often} ${shown(reason)}: ${shown(message)}${who}`,
      )
    })
    .join('')

/** The report for people. `isWide` adds details that are rarely needed. */
export function formatRequest(
  report: RequestReport,
  {now, isWide = false, stream = process.stdout}: {now: Date; isWide?: boolean; stream?: Sized},
): string {
  const page = new Page(stream)
  const {requester, labels, certificate, pairingWords, problems} = report
  const wide: Field[] = [
    ['uid', shown(report.uid)],
    ['labels', shownList(Object.entries(labels).map(([key, value]) => `${key}=${value}`))],
    ['user id', shown(requester.uid) || '<none>'],
    ...Object.entries(requester.extra).map(([key, values]): Field => [
      'extra',
      `${shownValue(key)}: ${shownList(values)}`,
    ]),
  ]
  return [
    page.fields([
      ['name', shown(report.name)],
      ['state', stateText(report, page)],
      ...revokedFields(report, now, page),
      ['created', agoOf(report.created, now)],
      ['signer', shown(report.signer)],
      ['requester', shownValue(requester.username)],
      ['groups', shownList(requester.groups)],
      ...(pairingWords === null ? [] : [['pairing words', pairingWords] as const]),
      ...(isWide ? wide : []),
    ]),
    page.section('Warning', warningSection(report, page)),
    page.section('Request', requestSection(report, page)),
    page.section('Conditions', conditionSection(report, now, page)),
    page.section('Approvers', approverSection(report, page)),
    page.section('Signer', signerSection(report, page)),
    page.section('Certificate', certificate ? certificateSection(certificate, page) : ''),
    page.section('Events', eventSection(report, now, page)),
    page.section(
      'Problems',
      problems.map((one) => page.item(page.paint.red('✖'), shown(one))).join(''),
    ),
  ].join('')
}

export const requestView = (isWide: boolean, now: Date): View<RequestReport> => ({
  table: (report) => formatRequest(report, {now, isWide}),
  name: ({name}) => [shown(name)],
})
