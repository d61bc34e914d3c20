import assert from 'node:assert/strict'
import type {Answer, Machine, Stage} from './stage.ts'

/** A command of the documentation, and how it is tried. */
export interface Step {
  command: string
  /** Whether it is about the store in the folder of a control plane. */
  needsEmbedded?: boolean | undefined
  try: (stage: Stage) => Promise<unknown>
}

interface Trial extends Pick<Step, 'needsEmbedded'> {
  /** What has to be there before. */
  first?: (stage: Stage) => Promise<unknown>
  /** What it has to print. */
  shows?: RegExp
  /** Where it runs. */
  on?: Machine
  /** For what a person is asked on a terminal. */
  answers?: readonly Answer[]
  /** What somebody does elsewhere while it waits. */
  meanwhile?: (stage: Stage) => Promise<unknown>
  /** It runs until it is stopped: this is what it prints when it is ready. */
  until?: string
  /** What holds afterwards. */
  then?: (stage: Stage) => Promise<unknown>
}

/** A terminal shows a long line in several, the others indented. */
const unfolded = (text: string): string => text.replaceAll(/\r\n +/g, ' ')

/** Types the command, which has to succeed. */
export const step = (command: string, trial: Trial = {}): Step => ({
  command,
  needsEmbedded: trial.needsEmbedded,
  async try(stage) {
    const {first, shows = /(?:)/, on, answers, meanwhile, until, then} = trial
    await first?.(stage)
    if (answers) {
      const {code, stdout} = await stage.answer(command, answers, on)
      assert.equal(code, 0, stdout)
      assert.match(unfolded(stdout), shows)
    } else {
      const begun = stage.begin(command, on)
      if (until !== undefined) await begun.shown(stage.typed(until))
      await meanwhile?.(stage)
      const {code, stdout, stderr} = await (until === undefined ? begun.ended : begun.stop())
      assert.equal(code, 0, stderr || stdout)
      assert.match(stdout, shows)
    }
    await then?.(stage)
  },
})

/** Something that has to work but is not what is tried. */
export async function must(stage: Stage, command: string, on?: Machine): Promise<string> {
  const {code, stdout, stderr} = await stage.run(command, on)
  assert.equal(code, 0, `${command}: ${stderr}`)
  return stdout
}
