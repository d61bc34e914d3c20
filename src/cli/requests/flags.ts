import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import type {RequestFilter} from '../../control-plane/requests/find.ts'
import type {CsrState} from '../../csr/conditions.ts'

const REQUEST_STATES = ['pending', 'approved', 'denied', 'failed', 'issued'] as const
type StateName = (typeof REQUEST_STATES)[number]

const STATES: Record<StateName, CsrState> = {
  pending: 'Pending',
  approved: 'Approved',
  denied: 'Denied',
  failed: 'Failed',
  issued: 'Issued',
}

export const requestNames = Args.string({
  multiple: true,
  ignoreStdin: true,
  description: 'the names of the requests',
})

const selector = Flags.string({
  char: 'l',
  helpValue: '<labels>',
  summary: 'only requests with these labels, as in "team=web,env!=test"',
})

const several = {multiple: true, multipleNonGreedy: true, delimiter: ','} as const

/** Which requests a command works on, except for their state. */
export const filterFlags = {
  signer: Flags.string({
    ...several,
    helpValue: '<signers>',
    summary: 'only requests to these signers',
  }),
  requester: Flags.string({
    ...several,
    helpValue: '<users>',
    summary: 'only requests of these users; * stands for anything, as in "system:node:*"',
  }),
  'older-than': Flags.string({
    helpValue: '<duration>',
    summary: 'only requests older than this, as in "1h"',
  }),
  'newer-than': Flags.string({
    helpValue: '<duration>',
    summary: 'only requests newer than this',
  }),
  selector,
}

export const stateFlag = Flags.option({
  ...several,
  options: REQUEST_STATES,
  helpValue: '<states>',
  summary: 'only requests in these states',
})()

export interface FilterFlagValues {
  signer?: string[] | undefined
  state?: StateName[] | undefined
  requester?: string[] | undefined
  'older-than'?: string | undefined
  'newer-than'?: string | undefined
  selector?: string | undefined
}

/** What the flags ask for. */
export async function filterOf(flags: FilterFlagValues): Promise<RequestFilter> {
  const {parseDuration} = await import('../../bootstrap/durations.ts')
  const span = (name: 'older-than' | 'newer-than') => {
    const text = flags[name]
    return text === undefined ? undefined : parseDuration(text, `--${name}`)
  }
  return {
    signers: flags.signer,
    states: flags.state?.map((name) => STATES[name]),
    requesters: flags.requester,
    olderThan: span('older-than'),
    newerThan: span('newer-than'),
    labelSelector: flags.selector,
  }
}

/** The flags that `certificate approve` and `certificate deny` share. */
export const decisionFlags = {
  filename: Flags.string({
    char: 'f',
    helpValue: '<file>',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'the requests in a YAML or JSON manifest; - reads stdin',
  }),
  selector: Flags.string({
    char: 'l',
    helpValue: '<labels>',
    summary: 'all requests with these labels, as in "team=web,env!=test"',
  }),
  reason: Flags.string({helpValue: '<word>', summary: 'the reason as one word, for programs'}),
  message: Flags.string({helpValue: '<text>', summary: 'the reason as a sentence, for people'}),
  force: Flags.boolean({
    summary: 'replace reason and message if the decision is already the same',
  }),
}
