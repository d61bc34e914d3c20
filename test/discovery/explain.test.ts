import assert from 'node:assert/strict'
import {INIT_PHASE_NAMES} from '../../src/control-plane/init/names.ts'
import {answerError} from '../../src/discovery/explain.ts'

const SERVER = 'https://192.0.2.1:6443'
const status = (code: number) => ({kind: 'Status', apiVersion: 'v1', status: 'Failure', code})

describe('a server without cluster-info for everybody', () => {
  for (const [code, is] of [
    [404, 'CLUSTER_INFO_MISSING'],
    [403, 'CLUSTER_INFO_FORBIDDEN'],
    [401, 'CLUSTER_INFO_FORBIDDEN'],
  ] as const) {
    it(`is repaired by the phase that publishes it: ${code}`, () => {
      const error = answerError(code, status(code), SERVER)
      assert.equal(error.code, is)
      const named = Array.from(
        error.suggestions.join('\n').matchAll(/trustadm init phase ([a-z-]+)/g),
        ([, phase]) => phase,
      )
      assert.deepEqual(named, ['cluster-info'])
      assert.ok((INIT_PHASE_NAMES as readonly string[]).includes('cluster-info'))
    })
  }
})
