import {TrustError} from '../errors.ts'
import {isInteractive} from './terminal.ts'

/** Asks a person; a script has to say --yes. */
export async function confirm(question: string): Promise<boolean> {
  if (!isInteractive(process.stdin) || !isInteractive(process.stderr)) {
    throw new TrustError('USAGE', `${question} There is no terminal to ask on.`, {
      hints: ['say --yes to go ahead without being asked'],
    })
  }
  const {default: inquirer} = await import('inquirer')
  // Questions are no result: the standard output stays free for that.
  const ask = inquirer.createPromptModule({output: process.stderr})
  const answers: {answer?: unknown} = await ask([
    {type: 'confirm', name: 'answer', message: question, default: false},
  ])
  return answers.answer === true
}
