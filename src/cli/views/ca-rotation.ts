import type {Dependent} from '../../control-plane/ca-rotation/dependent.ts'
import {shortened} from '../../control-plane/ca-rotation/groups.ts'
import type {RotationPlan} from '../../control-plane/ca-rotation/plan.ts'
import type {RotationReport} from '../../control-plane/ca-rotation/report.ts'
import type {LastRotation} from '../../control-plane/last-rotation.ts'
import {planeCommand} from '../../control-plane/plane-command.ts'
import {colours} from '../colours.ts'
import {columnsOf, formatFields, paragraph, wrap} from '../layout.ts'
import {formatColumns} from '../columns.ts'
import type {View} from '../output.ts'
import {moment} from './obtained.ts'

const [NAME, LAST_SEEN, WHY] = [1, 2, 3] as const
const MARKS = {done: '✔', running: '…', waiting: ' '} as const

function stateOf(report: RotationReport, dir: string): string {
  const {action, isReady, isSettled, dependents, stillTrusting} = report
  const confirming = isReady && dependents.length > 0 ? ' --ignore replaced-here' : ''
  const complete = planeCommand(dir, `ca rotate complete${confirming}`)
  const waitedFor = stillTrusting.filter(({isWaitedFor}) => isWaitedFor).length
  if (waitedFor > 0) {
    return `${waitedFor === 1 ? '1 node still trusts' : `${waitedFor} nodes still trust`} the old CA; it is Completed once none does`
  }
  if (isReady) return `ready for "${complete}"`
  return isSettled
    ? `${dependents.length} would be locked out by "${complete}"`
    : `"ca rotate ${action ?? ''}" is not finished; to continue, run it again`
}

function headline(report: RotationReport, dir: string): string {
  const {credentials, action, nodes} = report
  const last = credentials.rotation.certificateAuthorities ?? {}
  const {phase, lastInitiation, lastCompletion, only} = last
  const columns = columnsOf(process.stdout)
  if (action === undefined) {
    const text =
      lastInitiation === undefined
        ? 'The CAs were never rotated.'
        : `No rotation is in progress; ${lastRotationText(last)}.`
    return paragraph('', text, columns)
  }
  const completed = lastCompletion === undefined ? '' : ` Last completed ${moment(lastCompletion)}.`
  const count = nodes ? `, ${nodes.done} of ${nodes.total} nodes done` : ''
  const what = only ? ` of ${only.join(', ')}` : ''
  const since = `Phase ${phase ?? ''}${what}, started ${moment(lastInitiation)}`
  return paragraph('', `${since}${count}: ${stateOf(report, dir)}.${completed}`, columns)
}

/** What became of the last rotation, and when all CAs at once were rotated. */
export function lastRotationText(last: LastRotation): string {
  const {phase, lastCompletion, lastAbort, only = [], completions = {}} = last
  const isRunning = phase === 'Prepare' || phase === 'Finalize'
  const whole = lastCompletion === undefined ? '' : `last completed ${moment(lastCompletion)}`
  if (phase === undefined) {
    const aborted = lastAbort === undefined ? '' : ` ${moment(lastAbort)}`
    return `the last one was aborted${aborted}; ${whole || 'never completed'}`
  }
  if (isRunning || only.length === 0) return whole || 'never completed'
  const ended = completions[only[0] ?? '']
  const part = `the last one, of ${only.join(', ')} alone, was completed${ended === undefined ? '' : ` ${moment(ended)}`}`
  return `${part}; all CAs: ${whole || 'never completed'}`
}

function formatSteps({steps}: RotationReport): string {
  const {green, yellow} = colours(process.stdout)
  const marks = {...MARKS, done: green(MARKS.done), running: yellow(MARKS.running)}
  return steps.length === 0
    ? ''
    : `\n${steps.map(({summary, state}) => `${marks[state]} ${summary}\n`).join('')}`
}

interface DependentsLook {
  title?: string
  /** Whether each is shown, not only the first of each group. */
  all?: boolean
  /** The command that shows all. */
  command?: string
}

const rowOf = ({kind, name, lastSeen, reasons}: Dependent): string[] => [
  kind,
  name,
  lastSeen === undefined ? '<unknown>' : moment(lastSeen),
  reasons.join('; '),
]

function formatDependents(
  {dependents}: Pick<RotationReport, 'dependents'>,
  {title = 'These would be locked out:', all = false, command}: DependentsLook = {},
): string {
  if (dependents.length === 0) return ''
  const groups = shortened(dependents)
  const rows = all
    ? dependents.map(rowOf)
    : groups.flatMap(({shown, more, what, count}) => [
        ...shown.map(rowOf),
        ...(more === 0 ? [] : [['…', `and ${more} more`, '', `${count} ${what}`]]),
      ])
  const isCut = !all && groups.some(({more}) => more > 0)
  const table = formatColumns(['KIND', 'NAME', 'LAST SEEN', 'WHY'], rows, {
    least: new Map([[WHY, 24]]),
    droppable: [LAST_SEEN],
    last: {least: new Map([[NAME, 20]])},
  })
  const todos = [
    ...new Set(groups.flatMap((group) => group.todos)),
    ...(isCut && command !== undefined ? [`to see all of them, run "${command}"`] : []),
  ].map((todo) => paragraph('→ ', todo, columnsOf(process.stdout)))
  return `\n${title}\n\n${table}\n${todos.join('')}`
}

/** Also those that were ignored: they trust the old CA until they are seen not to. */
const formatTrusting = ({stillTrusting}: RotationReport, look: DependentsLook): string =>
  formatDependents({dependents: stillTrusting}, {...look, title: 'These still trust the old CA:'})

function formatServers({servers = []}: RotationReport): string {
  if (servers.length < 2) return ''
  const rows = servers.map(({name, hostname, generation, state}) => [
    name,
    hostname ?? '<unknown>',
    String(generation),
    state,
  ])
  return `\n${formatColumns(['SERVER', 'HOST', 'GENERATION', 'STATE'], rows, {least: new Map([[0, 20]])})}`
}

function formatAuthorities({authorities}: RotationReport): string {
  if (authorities.length === 0) return ''
  const rows = authorities.map(({id, old, new: next}) => [id, old.pin, next.pin || '<not yet>'])
  return `\n${formatColumns(['CA', 'OLD', 'NEW'], rows, {
    least: new Map([
      [1, 15],
      [2, 15],
    ]),
  })}`
}

/** What a dry run prints. */
export const rotationPlanView: View<RotationPlan> = {
  table: ({action, resumes, authorities, servers = [], steps, dependents, lockedOut}) => {
    const columns = columnsOf(process.stdout)
    const head = `"ca rotate ${action}" would ${resumes ? 'resume' : 'begin'}, for ${authorities.join(', ')}:`
    const isDone = (state: string) => (state === 'done' ? MARKS.done : MARKS.waiting)
    const fields = steps.map(({id, summary, state}) => [`${isDone(state)} ${id}`, summary] as const)
    const width = Math.max(...fields.map(([label]) => label.length)) + 3
    const refusal =
      dependents.length === 0 ? '' : '\nIt would be refused, unless you ignore them.\n'
    return (
      `${wrap(head, {columns, indent: 0})}\n\n` +
      formatFields(fields, {columns, width}) +
      (servers.length > 1
        ? `\n${paragraph('', `Every server follows: ${servers.join(', ')}.`, columns)}`
        : '') +
      formatDependents({dependents}) +
      refusal +
      formatDependents({dependents: lockedOut}, {title: 'These will be locked out, as you asked:'})
    )
  },
  name: ({steps}) => steps.map(({id}) => id),
}

function formatAdvice({advice}: RotationReport): string {
  if (advice.length === 0) return ''
  const lines = advice.map((line) => paragraph('- ', line, columnsOf(process.stdout)))
  return `\nFor you to do:\n${lines.join('')}`
}

/** `dir` is the folder of the control plane. */
const viewOf = (
  showSteps: (report: RotationReport) => string,
  dir: string,
  all = false,
): View<RotationReport> => {
  const look = {all, command: planeCommand(dir, 'ca rotate status --all')}
  return {
    table: (report) =>
      headline(report, dir) +
      showSteps(report) +
      formatServers(report) +
      formatAuthorities(report) +
      formatDependents(report, look) +
      formatTrusting(report, look) +
      formatAdvice(report),
    name: ({authorities}) => authorities.map(({id}) => id),
  }
}

/** How people see the state of a rotation. */
export const rotationView = (dir: string, all?: boolean) => viewOf(formatSteps, dir, all)

/** The same after a command that has just shown its steps. */
export const rotationEndView = (dir: string, all?: boolean) => viewOf(() => '', dir, all)
