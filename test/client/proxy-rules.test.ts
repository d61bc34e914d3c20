import assert from 'node:assert/strict'
import {isExempt, proxyFromEnvironment} from '../../src/client/proxy-rules.ts'

const PROXY = 'http://proxy.example:3128'

describe('isExempt', () => {
  const cases: [server: string, noProxy: string, exempt: boolean][] = [
    ['https://10.1.2.3:6443', '10.0.0.0/8', true],
    ['https://11.1.2.3:6443', '10.0.0.0/8', false],
    ['https://10.1.2.3:6443', '10.1.2.0/23', true],
    ['https://10.1.4.3:6443', '10.1.2.0/23', false],
    ['https://10.1.2.3:6443', '0.0.0.0/0', true],
    ['https://10.1.2.3:6443', '10.0.0.0/33', false],
    ['https://10.1.2.3:6443', '10.0.0.0/', false],
    ['https://10.1.2.3:6443', 'nonsense/8', false],
    ['https://[fd00::1]:6443', 'fd00::/8', true],
    ['https://[fe80::1]:6443', 'fd00::/8', false],
    ['https://10.1.2.3:6443', 'fd00::/8', false],
    ['https://api.example', '10.0.0.0/8', false],
    ['https://10.1.2.3:6443', '10.1.2.3', true],
    ['https://10.1.2.3:6443', '10.1.2.3:6443', true],
    ['https://10.1.2.3:6443', '10.1.2.3:443', false],
    ['https://[fd00:0::1]:6443', 'fd00::1', true],
    ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
    ['https://[fd00::1]:6443', '[fd00::1]:1', false],
    ['https://api.example', 'example', true],
    ['https://api.example', 'api.example', true],
    ['https://API.Example', 'api.EXAMPLE', true],
    ['https://notexample', 'example', false],
    ['https://example.org', 'example', false],
    ['https://api.example', '.example', true],
    ['https://example', '.example', false],
    ['https://api.example', '*.example', true],
    ['https://api.example', 'api.example:443', true],
    ['https://api.example:8443', 'api.example:443', false],
    ['https://api.example', '*', true],
    ['https://api.example', 'one.org, example ,two.org', true],
    ['https://api.example', '', false],
    ['https://api.example', ',,', false],
  ]
  for (const [server, noProxy, exempt] of cases) {
    it(`${exempt ? 'spares' : 'does not spare'} ${server} by NO_PROXY=${noProxy}`, () => {
      assert.equal(isExempt(new URL(server), noProxy), exempt)
    })
  }
})

describe('proxyFromEnvironment', () => {
  const server = new URL('https://10.1.2.3:6443')

  it('takes HTTPS_PROXY before https_proxy', () => {
    const environment = {HTTPS_PROXY: PROXY, https_proxy: 'http://other'}
    assert.equal(proxyFromEnvironment(server, environment), PROXY)
  })

  it('takes https_proxy where HTTPS_PROXY is empty', () => {
    assert.equal(proxyFromEnvironment(server, {HTTPS_PROXY: '', https_proxy: PROXY}), PROXY)
  })

  it('takes a proxy without a scheme for an HTTP one', () => {
    const environment = {HTTPS_PROXY: 'proxy.example:3128'}
    assert.equal(proxyFromEnvironment(server, environment), PROXY)
  })

  it('does not use HTTP_PROXY for an HTTPS server', () => {
    assert.equal(proxyFromEnvironment(server, {HTTP_PROXY: PROXY}), undefined)
  })

  it('heeds no_proxy', () => {
    const environment = {HTTPS_PROXY: PROXY, no_proxy: '10.0.0.0/8'}
    assert.equal(proxyFromEnvironment(server, environment), undefined)
  })

  for (const local of ['https://127.0.0.1', 'https://localhost:6443', 'https://[::1]:6443']) {
    it(`never uses a proxy for ${local}`, () => {
      assert.equal(proxyFromEnvironment(new URL(local), {HTTPS_PROXY: PROXY}), undefined)
    })
  }
})
