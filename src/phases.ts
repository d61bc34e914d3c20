import {didYouMean} from './closest.ts'
import {distinctHints, TrustError} from './errors.ts'

/** What is shown of a phase. */
interface PhaseTitle {
  name: string
  summary: string
}

/**
 * One step of a command. Each can be repeated and keeps what is right already, so a run after an interruption resumes; each can also
 * run alone on what the ones before it left.
 */
export interface Phase<Context, Name extends string = string> extends PhaseTitle {
  name: Name
  /** What `run` would change, for `--dry-run`. Changes nothing. */
  plan: (context: Context) => Promise<string[]>
  run: (context: Context) => Promise<void>
  /** Whether `run` changes nothing either. */
  isCheck?: true
}

/** Called as the phases go by. */
export interface PhaseObserver {
  begin: (phase: PhaseTitle) => void
  end: (phase: PhaseTitle) => void
}

export interface PlannedChange {
  phase: string
  change: string
}

/** What `--dry-run` prints. */
export interface Plan {
  dir: string
  changes: PlannedChange[]
}

/** Runs the phases one after the other, up to the first that fails. */
export async function runPhases<Context>(
  phases: readonly Phase<Context>[],
  context: Context,
  {begin, end}: PhaseObserver,
): Promise<void> {
  for (const phase of phases) {
    begin(phase)
    await phase.run(context)
    end(phase)
  }
}

/** What the phases would change. Changes nothing. */
export async function planPhases<Context>(
  phases: readonly Phase<Context>[],
  context: Context,
): Promise<PlannedChange[]> {
  const changes: PlannedChange[] = []
  for (const phase of phases) {
    for (const change of await phase.plan(context)) changes.push({phase: phase.name, change})
  }
  return changes
}

/** The name of a phase; anything else is an error that lists them. */
export function requirePhaseName<Name extends string>(text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text)
  if (found !== undefined) return found
  throw new TrustError('USAGE', `there is no phase "${text}"`, {
    hints: [...didYouMean(text, names), `the phases are ${names.join(', ')}`],
  })
}

/** One of several conditions that a phase checks. */
export interface Check<Context> {
  /** What `--ignore-preflight-errors` names it by; without a name it cannot be ignored. */
  name?: string
  run: (context: Context) => Promise<void> | void
}

export interface CheckOptions {
  /** Names of checks that only warn, in lower case; `all` of them. */
  ignored?: readonly string[] | undefined
  warn: (line: string) => void
}

/** Runs all the checks, and reports everything that is wrong at once. */
export async function requireChecks<Context>(
  checks: readonly Check<Context>[],
  context: Context,
  {ignored = [], warn}: CheckOptions,
): Promise<void> {
  const problems: TrustError[] = []
  for (const {name, run} of checks) {
    try {
      await run(context)
    } catch (error) {
      if (!(error instanceof TrustError)) throw error
      const names = name === undefined ? [] : ['all', name.toLowerCase()]
      if (names.some((one) => ignored.includes(one))) warn(`${error.message} (ignored)`)
      else problems.push(error)
    }
  }
  const [first, ...more] = problems
  if (!first) return
  if (more.length === 0) throw first
  throw new TrustError(
    'PREFLIGHT_FAILED',
    `this machine is not ready: ${problems.map(({message}) => message).join('; ')}`,
    {hints: distinctHints(problems.flatMap(({hints}) => hints))},
  )
}

/** A phase that only checks: a dry run fails as a real one does. */
export const checkPhase = <Context extends {tell: (line: string) => void}, Name extends string>({
  name,
  summary,
  passed,
  check,
}: {
  name: Name
  summary: string
  /** What to say in the end. */
  passed: string
  check: (context: Context) => Promise<void>
}): Phase<Context, Name> => ({
  name,
  summary,
  isCheck: true,
  async plan(context) {
    await check(context)
    return []
  },
  async run(context) {
    await check(context)
    context.tell(passed)
  },
})
