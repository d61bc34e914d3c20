import assert from 'node:assert/strict'
import {request} from 'node:http'
import {AgentMetrics} from '../../../src/node/agent/agent-metrics.ts'
import {parseMetricsAddress, serveMetrics} from '../../../src/node/agent/metrics-server.ts'
import {systemClock} from '../../../src/runtime.ts'
import {useAgents} from './support.ts'

describe('the metrics of an agent', () => {
  const addresses: [string, string, number][] = [
    ['9100', '127.0.0.1', 9100],
    [':9100', '127.0.0.1', 9100],
    ['0.0.0.0:9100', '0.0.0.0', 9100],
    ['[::1]:9100', '::1', 9100],
    ['metrics.example:80', 'metrics.example', 80],
  ]
  for (const [text, host, port] of addresses) {
    it(`are served on ${host} for ${text}`, () => {
      assert.deepEqual(parseMetricsAddress(text), {host, port})
    })
  }
  for (const text of ['', 'host', '70000', 'http://a:1', '::1']) {
    it(`are not served on "${text}"`, () => {
      assert.throws(() => parseMetricsAddress(text), {code: 'USAGE'})
    })
  }

  it('and its health are all that is served', async () => {
    const {address, close} = await serveMetrics(
      {host: '127.0.0.1', port: 0},
      new AgentMetrics(systemClock),
    )
    const statusOf = async (path: string, method = 'GET') =>
      (await fetch(`http://${address}${path}`, {method})).status
    assert.equal(await statusOf('/metrics'), 200)
    assert.equal(await statusOf('/healthz'), 200)
    assert.equal(await statusOf('/'), 404)
    assert.equal(await statusOf('/metrics', 'POST'), 405)
    await close()
  })

  it('survive a request for what is not a URL', async () => {
    const {address, close} = await serveMetrics(
      {host: '127.0.0.1', port: 0},
      new AgentMetrics(systemClock),
    )
    const [host = '', port] = address.split(':')
    const statusOf = (path: string) =>
      new Promise((resolve, reject) => {
        request({host, port, path}, (response) => resolve(response.resume().statusCode))
          .once('error', reject)
          .end()
      })
    for (const path of ['//', '/\\\\', 'http://[']) assert.equal(await statusOf(path), 404)
    assert.equal(await statusOf('/metrics?a=b'), 200)
    await close()
  })

  it('are refused on a port that is taken', async () => {
    const metrics = new AgentMetrics(systemClock)
    const {address, close} = await serveMetrics({host: '127.0.0.1', port: 0}, metrics)
    const port = Number(address.split(':')[1])
    await assert.rejects(serveMetrics({host: '127.0.0.1', port}, metrics), {code: 'PORT_IN_USE'})
    await close()
  })

  describe('of a joined node', function () {
    this.timeout(30_000)
    const {open, attend, clock} = useAgents()
    const valueOf = (text: string, name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]?.replace('+Inf', 'Infinity'))

    it("have the kubelet's names", async () => {
      const agent = await open()
      await attend(agent)
      const text = () => agent.metrics.text()
      const left = valueOf(text(), 'kubelet_certificate_manager_client_ttl_seconds')
      assert.ok(left > 3500 && left <= 3600, String(left))
      assert.equal(valueOf(text(), 'kubelet_certificate_manager_server_ttl_seconds'), Infinity)
      assert.equal(valueOf(text(), 'trustadm_node_client_rotation_seconds_count'), NaN)
      assert.equal(valueOf(text(), 'trustadm_node_server_healthy'), NaN)
      await agent.renew(new AbortController().signal)
      assert.equal(valueOf(text(), 'trustadm_node_client_rotation_seconds_count'), 1)
      assert.equal(valueOf(text(), 'trustadm_node_server_healthy'), 1)
      const errors = 'kubelet_certificate_manager_client_expiration_renew_errors'
      assert.equal(valueOf(text(), errors), 0)
      clock.shift = 3_700_000
      await assert.rejects(attend(agent))
      assert.equal(valueOf(text(), errors), 1)
      assert.equal(valueOf(text(), 'kubelet_server_expiration_renew_errors'), 0)
    })

    it('have the ages of replaced serving certificates, and how long the current one is valid', async () => {
      const agent = await open({serving: true})
      await attend(agent)
      const rotation = 'kubelet_certificate_manager_server_rotation_seconds'
      const value = (name: string) => valueOf(agent.metrics.text(), name)
      const left = value('kubelet_certificate_manager_server_ttl_seconds')
      assert.ok(left > 3500 && left <= 3600, String(left))
      // The first one replaced none.
      assert.equal(value(`${rotation}_count`), NaN)
      clock.shift = 600_000
      await agent.renew(new AbortController().signal)
      assert.equal(value(`${rotation}_count`), 1)
      // It began an hour before it was made.
      const age = value(`${rotation}_sum`)
      assert.ok(age >= 4200 && age < 4300, String(age))
      const text = agent.metrics.text()
      assert.match(
        text,
        /^kubelet_certificate_manager_server_rotation_seconds_bucket\{le="3600"\} 0$/m,
      )
      assert.match(
        text,
        /^kubelet_certificate_manager_server_rotation_seconds_bucket\{le="14400"\} 1$/m,
      )
    })
  })
})
