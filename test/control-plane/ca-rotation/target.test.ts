import assert from 'node:assert/strict'
import type {Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {targetOf} from '../../../src/control-plane/ca-rotation/target.ts'
import {STARTED} from './support.ts'

const BOTH = ['old', 'new']
const journal = (action: Journal['action'], ...done: string[]): Journal => ({
  ...STARTED,
  action,
  done,
})

describe('what the files of a machine should be', () => {
  const cases = [
    {name: 'before the new CAs are arranged', of: journal('start', 'create'), is: {}},
    {
      name: 'once both are trusted',
      of: journal('start', 'create', 'trust-both'),
      is: {arrange: ['old', 'old', BOTH]},
    },
    {name: 'after a start', of: STARTED, is: {arrange: ['new', 'old', BOTH], leaves: 'clients'}},
    {
      name: 'when a completion begins',
      of: journal('complete'),
      is: {arrange: ['new', 'old', BOTH], leaves: 'clients'},
    },
    {
      name: 'when servers have new certificates',
      of: journal('complete', 'sign-servers', 'renew-servers'),
      is: {arrange: ['new', 'new', BOTH], leaves: 'all'},
    },
    {
      name: 'at the end of a completion',
      of: journal('complete', 'sign-servers', 'renew-servers', 'distrust-old', 'remove-old'),
      is: {arrange: ['new', 'new', ['new']], leaves: 'all', removed: 'old'},
    },
    {
      name: 'when an abort begins, however far the start was',
      of: journal('abort'),
      is: {arrange: ['old', 'old', BOTH], leaves: 'all'},
    },
    {
      name: 'at the end of an abort',
      of: journal('abort', 'distrust-new', 'remove-new'),
      is: {arrange: ['old', 'old', ['old']], leaves: 'all', removed: 'new'},
    },
    {
      name: 'if the new CAs never existed',
      of: {
        ...journal('abort', 'sign-with-old', 'renew-with-old', 'distrust-new', 'remove-new'),
        units: [{id: 'ca', old: {pin: ''}, new: {pin: ''}}],
      },
      is: {removed: 'new'},
    },
    {
      name: 'if the old CA has expired',
      of: {...journal('start', 'create', 'sign-everything', 'renew-everything'), isExpired: true},
      is: {arrange: ['new', 'new', BOTH], leaves: 'all'},
    },
  ]
  for (const {name, of, is} of cases) {
    it(name, () => {
      const {arrange, ...rest} = targetOf(of)
      const shown = arrange && [arrange.clients, arrange.servers, arrange.trusts]
      assert.deepEqual({...(shown && {arrange: shown}), ...rest}, is)
    })
  }
})
