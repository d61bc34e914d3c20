import {TrustError} from '../errors.ts'
import {columnsOf, wrap, type Sized} from './layout.ts'
import {plainText} from './plain-text.ts'
import {isInteractive} from './terminal.ts'

/** Whether there is a terminal to ask on. */
export const canAsk = (): boolean => isInteractive(process.stdin) && isInteractive(process.stderr)

/** The mark before a question. */
const MARK_WIDTH = 2
/** What comes behind it: `(y/N)`, or the answer. */
const ANSWER_WIDTH = 8

/** A question in lines that break between words: inquirer would break them anywhere. */
export const questionText = (question: string, stream: Sized = process.stderr): string =>
  wrap(plainText(question), {columns: columnsOf(stream) - ANSWER_WIDTH, indent: MARK_WIDTH})

/** Asks a person; a script has to pass --yes. */
export async function confirm(question: string): Promise<boolean> {
  if (!canAsk()) {
    throw new TrustError('USAGE', `${question} There is no terminal to ask on.`, {
      hints: ['use --yes to go ahead without confirmation'],
    })
  }
  const answers: {answer?: unknown} = await (
    await questions()
  )([{type: 'confirm', name: 'answer', message: questionText(question), default: false}])
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
      message: questionText(question),
      choices: choices.map(({value, name}) => ({value, name: plainText(name)})),
    },
  ])
  return answers.answer as Value
}

/** A line of text; may be empty. */
export async function askText(question: string): Promise<string> {
  const answers: {answer?: unknown} = await (
    await questions()
  )([{type: 'input', name: 'answer', message: questionText(question)}])
  return typeof answers.answer === 'string' ? answers.answer.trim() : ''
}

async function questions() {
  const {default: inquirer} = await import('inquirer')
  // Questions go to the standard error: the standard output is for results.
  return inquirer.createPromptModule({output: process.stderr})
}
