import {TrustError} from '../errors.ts'
import {plainText} from './plain-text.ts'
import {isInteractive} from './terminal.ts'

/** Whether there is a terminal to ask on. */
export const canAsk = (): boolean => isInteractive(process.stdin) && isInteractive(process.stderr)

/** Asks a person; a script has to pass --yes. */
export async function confirm(question: string): Promise<boolean> {
  if (!canAsk()) {
    throw new TrustError('USAGE', `${question} There is no terminal to ask on.`, {
      hints: ['use --yes to go ahead without confirmation'],
    })
  }
  const answers: {answer?: unknown} = await (
    await questions()
  )([{type: 'confirm', name: 'answer', message: plainText(question), default: false}])
  return answers.answer === true
}

export interface Choice<Value extends string> {
  value: Value
  name: string
}

/** Lets a person choose; the first choice is preselected. */
export async function choose<Value extends string>(
  question: string,
  choices: readonly Choice<Value>[],
): Promise<Value> {
  const answers: {answer?: unknown} = await (
    await questions()
  )([
    {
      type: 'select',
      name: 'answer',
      message: plainText(question),
      choices: choices.map(({value, name}) => ({value, name: plainText(name)})),
    },
  ])
  return answers.answer as Value
}

/** A line of text; may be empty. */
export async function askText(question: string): Promise<string> {
  const answers: {answer?: unknown} = await (
    await questions()
  )([{type: 'input', name: 'answer', message: plainText(question)}])
  return typeof answers.answer === 'string' ? answers.answer.trim() : ''
}

async function questions() {
  const {default: inquirer} = await import('inquirer')
  // Questions go to the standard error: the standard output is for results.
  return inquirer.createPromptModule({output: process.stderr})
}
