import assert from 'node:assert/strict'
import {parseEndpoint} from '../../src/discovery/cluster-info.ts'

describe('parseEndpoint', () => {
  for (const [text, url] of [
    ['192.168.122.100:6443', 'https://192.168.122.100:6443'],
    ['API.example:6443', 'https://api.example:6443'],
    ['https://api.example:443/', 'https://api.example:443'],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443'],
    ['localhost:1', 'https://localhost:1'],
  ] as const) {
    it(`asks ${text} at ${url}`, () => {
      assert.equal(parseEndpoint(text), url)
    })
  }

  for (const text of [
    '',
    '192.168.122.100',
    'api.example',
    'https://api.example',
    'http://api.example:6443',
    'api.example:0',
    'api.example:65536',
    'api.example:six',
    'user:secret@api.example:6443',
    'api.example:6443/path',
    'api.example:6443?a=b',
    'fd00::1:6443',
    '[fd00::g]:6443',
    '[10.0.0.1]:6443',
    '10.0.0.256:6443',
    '10.1:6443',
    'a..b:6443',
    '-a.b:6443',
    'a b:6443',
    'a_b:6443',
    'file://x:1',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseEndpoint(text), {code: 'USAGE', message: /address of an API server/})
    })
  }
})
