import assert from 'node:assert/strict'
import {parseEndpoint, withDefaultPort} from '../../src/discovery/cluster-info.ts'

describe('withDefaultPort', () => {
  for (const [text, complete] of [
    ['127.0.0.1', '127.0.0.1:6443'],
    ['localhost', 'localhost:6443'],
    ['API.example', 'API.example:6443'],
    ['::1', '[::1]:6443'],
    ['[fd00::1]', '[fd00::1]:6443'],
  ] as const) {
    it(`asks ${text} at port 6443`, () => {
      assert.equal(withDefaultPort(text), complete)
      assert.doesNotThrow(() => parseEndpoint(complete))
    })
  }

  it('leaves all else as it is, above all what may be a token or a port', () => {
    for (const text of [
      '10.0.0.1:443',
      'https://api.example',
      'fd00::1:6443',
      '10.0.0.256',
      '',
      'abcdef.0123456789abcdef',
      'ABCDEF.0123456789abcde',
      'abcdefg.0123456789abcdefg',
    ]) {
      assert.equal(withDefaultPort(text), text)
    }
  })
})

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
