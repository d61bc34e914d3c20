import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {connect} from '../../src/client/connect.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {trustadm} from '../helpers/program.ts'
import {startPrometheus, whyNoPrometheus} from '../helpers/prometheus.ts'
import {until} from '../server/support.ts'

const fileAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Those of the server; `node run` has the others, which its own tests look at. */
const OF_NODES = new Set([
  'trustadm_node_client_renewal_deadline_seconds',
  'kubelet_certificate_manager_client_ttl_seconds',
])
const METRIC = /\b(?:trustadm|apiserver|process|kubelet)_[a-z_]+[a-z]\b/g

interface Vector {
  result: {metric: Record<string, string>; value: [number, string]}[]
}

describe('a control plane watched by a real Prometheus', () => {
  let cluster: Cluster
  let folder: string

  before(async () => {
    cluster = await startCluster()
    folder = await mkdtemp(join(tmpdir(), 'trustadm-prometheus-'))
  })
  after(async () => {
    await cluster.stop()
    await rm(folder, {recursive: true, force: true})
  })

  it('serves every metric that the rules and the dashboard use', async () => {
    const client = await connect(cluster.kubeconfig)
    const text = await client.raw('/metrics')
    await client.close()
    const served = new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name))
    const files = ['monitoring/alerts.yaml', 'monitoring/grafana-dashboard.json']
    const used = (await Promise.all(files.map((file) => readFile(fileAt(file), 'utf8'))))
      .flatMap((content) => content.match(METRIC) ?? [])
      .map((name) => name.replace(/_bucket$/, ''))
    assert.ok(used.length > 10)
    const missing = used.filter((name) => !served.has(name) && !OF_NODES.has(name))
    assert.deepEqual(missing, [])
  })

  it('is scraped with a client certificate of the group system:monitoring, and the rules are evaluated', async function () {
    const reason = whyNoPrometheus()
    if (reason !== undefined) {
      this.test!.title += ` (skipped: ${reason})`
      this.skip()
    }
    const access = ['--kubeconfig', cluster.kubeconfig]
    const request = [
      ...['certificate', 'request', 'prometheus', '--user', 'prometheus'],
      ...['--group', 'system:monitoring', '--out', folder, ...access],
    ]
    await trustadm(...request, '--no-wait')
    assert.equal(
      (await trustadm('certificate', 'approve', 'prometheus', '--yes', ...access)).code,
      0,
    )
    const obtained = await trustadm(...request)
    assert.equal(obtained.code, 0, obtained.stderr)

    const prometheus = await startPrometheus(
      folder,
      JSON.stringify({
        global: {scrape_interval: '1s', evaluation_interval: '1s'},
        rule_files: [fileAt('monitoring/alerts.yaml')],
        scrape_configs: [
          {
            job_name: 'trustadm',
            scheme: 'https',
            tls_config: {
              ca_file: join(cluster.dir, 'pki', 'ca.crt'),
              cert_file: join(folder, 'prometheus.crt'),
              key_file: join(folder, 'prometheus.key'),
            },
            static_configs: [{targets: [new URL(cluster.endpoint).host]}],
          },
        ],
      }),
    )
    try {
      const query = async (text: string) =>
        (await prometheus.get<Vector>(`query?query=${encodeURIComponent(text)}`)).result
      const issued = 'trustadm_certificates_issued_total'
      await until(async () => (await query(issued)).length > 0)
      assert.deepEqual(
        (await query('up')).map(({value}) => value[1]),
        ['1'],
      )
      const [one] = await query(issued)
      assert.equal(one?.metric.signer, 'kubernetes.io/kube-apiserver-client')
      assert.equal(one.value[1], '1')
      const names = (await query('trustadm_certificate_expiration_timestamp_seconds > time()')).map(
        ({metric}) => `${metric.kind} ${metric.name}`,
      )
      for (const name of ['ca ca', 'ca front-proxy-ca', 'certificate apiserver'])
        assert.ok(names.includes(name), name)
      const [tokens] = await query('trustadm_bootstrap_tokens{state="expiring"}')
      assert.equal(tokens?.value[1], '1')

      interface Rules {
        groups: {rules: {name: string; health: string; lastError?: string; state: string}[]}[]
      }
      const rules = async () =>
        (await prometheus.get<Rules>('rules')).groups.flatMap((group) => group.rules)
      await until(async () => (await rules()).every(({health}) => health !== 'unknown'))
      for (const {name, health, lastError, state} of await rules()) {
        assert.equal(health, 'ok', lastError)
        assert.equal(state, 'inactive', name)
      }
    } finally {
      await prometheus.stop()
    }
  })
})
