import assert from 'node:assert/strict'
import {parseConfigFile} from '../../../src/control-plane/config/config-file.ts'
import {
  etcdOf,
  requireEncryption,
  unencryptedWarning,
} from '../../../src/control-plane/config/etcd.ts'
import {complete} from '../../../src/control-plane/config/settings.ts'
import {adapt} from '../../../src/control-plane/config/stored.ts'

const external = (fields: string) => `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
etcd:
  external:
${fields}`

const etcdIn = (text: string) => etcdOf(complete('/dir', parseConfigFile(text, 'file').choices))

describe('the etcd of a control plane', () => {
  it('is read from a file of kubeadm', () => {
    const text = external(`    endpoints: [https://10.0.0.1:2379/, https://10.0.0.2:2379]
    caFile: /etc/etcd/ca.crt
    certFile: /etc/etcd/client.crt
    keyFile: /etc/etcd/client.key`)
    assert.deepEqual(etcdIn(text), {
      servers: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
      caFile: '/etc/etcd/ca.crt',
      certFile: '/etc/etcd/client.crt',
      keyFile: '/etc/etcd/client.key',
      prefix: '/trustadm',
    })
  })

  it('is absent without servers, and then nothing else of it may be set', () => {
    assert.equal(etcdOf(complete('/dir', {})), undefined)
    assert.throws(() => etcdOf(complete('/dir', {etcdCaFile: '/ca.crt'})), {
      code: 'CONFIG_INVALID',
      message: 'etcdCaFile is set, but no server of etcd',
    })
  })

  for (const [name, fields, message] of [
    ['no servers', 'endpoints: []', /must name 1 to 32 servers/],
    ['an address without a scheme', 'endpoints: ["10.0.0.1:2379"]', /"10.0.0.1:2379" is not/],
    ['what is no list', 'endpoints: 5', /must be a list/],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => etcdIn(external(`    ${fields}`)), {code: 'CONFIG_INVALID', message})
    })
  }

  for (const [server, isRefused] of [
    ['http://192.0.2.1:2379', true],
    ['http://etcd.example:2379', true],
    ['http://[2001:db8::1]:2379', true],
    ['http://127.0.0.1.example:2379', true],
    ['https://192.0.2.1:2379', false],
    ['http://127.0.0.1:2379', false],
    ['http://127.8.8.8:2379', false],
    ['http://localhost:2379', false],
    ['http://[::1]:2379', false],
  ] as const) {
    it(`${isRefused ? 'must not be' : 'may be'} ${server} for a new control plane`, () => {
      const chosen = {etcdServers: ['https://192.0.2.9:2379', server]}
      const check = () => requireEncryption(chosen)
      if (isRefused) assert.throws(check, {code: 'CONFIG_INVALID', message: /unencrypted/})
      else assert.doesNotThrow(check)
      assert.equal(unencryptedWarning(chosen).length, isRefused ? 1 : 0)
    })
  }

  it('stays without TLS for a control plane that uses it already, and gets no other like it', () => {
    const saved = {etcdServers: ['http://192.0.2.1:2379']}
    requireEncryption(saved, saved)
    const more = {etcdServers: [...saved.etcdServers, 'http://192.0.2.2:2379']}
    assert.throws(() => requireEncryption(more, saved), {message: /^http:\/\/192\.0\.2\.2:2379/})
  })

  it('may get other members, but a standing control plane no other store', () => {
    const servers = ['http://10.0.0.1:2379']
    const changed = adapt(complete('/dir', {etcdServers: servers}), {
      etcdServers: ['http://10.0.0.2:2379'],
    })
    assert.deepEqual(changed.etcdServers, ['http://10.0.0.2:2379'])
    assert.throws(() => adapt(complete('/dir', {}), {etcdServers: servers}), {code: 'CONFLICT'})
    assert.throws(() => adapt(complete('/dir', {etcdServers: servers}), {etcdPrefix: '/other'}), {
      code: 'CONFLICT',
    })
  })
})
