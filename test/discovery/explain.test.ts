import assert from 'node:assert/strict'
import {INIT_PHASE_NAMES} from '../../src/control-plane/init/names.ts'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import type {TrustError} from '../../src/errors.ts'
import {answerError} from '../../src/discovery/explain.ts'

const SERVER = 'https://192.0.2.1:6443'
const status = (code: number) => ({kind: 'Status', apiVersion: 'v1', status: 'Failure', code})

describe('cluster-info that no machine can read', () => {
  for (const [what, text] of [
    ['is not YAML', 'a: ['],
    ['has two clusters', 'clusters: [{cluster: {}}, {cluster: {}}]'],
    ['contains credentials', 'clusters: [{cluster: {token: hush}}]'],
  ] as const) {
    it(`is repaired by the phase that publishes it: it ${what}`, () => {
      assert.throws(
        () => parseClusterInfo(text),
        ({suggestions}: TrustError) => {
          assert.match(suggestions.join('\n'), /trustadm init phase cluster-info/)
          return true
        },
      )
      assert.throws(
        () => parseClusterInfo(text, 'my.yaml'),
        ({suggestions}: TrustError) => !suggestions.join('\n').includes('trustadm init phase'),
      )
    })
  }
})

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
