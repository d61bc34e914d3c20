import assert from 'node:assert/strict'
import {copyFile, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {until} from '../../server/support.ts'
import {makeAuthority} from './authority.ts'
import {blockOf} from './commands.ts'
import type {Stage} from './stage.ts'
import {must, step, type Step} from './step.ts'

const DOWN = '\u001B[B'
const NODE_CSR = 'node-csr-3Q2d'

const isThere = (stage: Stage, name: string) =>
  until(async () => (await stage.client.csrs.find(name)) !== undefined)

/** A request that waits; one of the same name is deleted. */
async function ask(stage: Stage, name: string, user: string): Promise<void> {
  if (await stage.client.csrs.find(name)) await stage.client.csrs.delete(name)
  await must(stage, `trustadm certificate request ${name} --user ${user} --no-wait --out ${user}`)
}

const approveLater = async (stage: Stage, name: string) => {
  await isThere(stage, name)
  await must(stage, `trustadm certificate approve ${name}`)
}

const readable = (path: string) => async (stage: Stage) =>
  assert.ok((await stat(stage.file(`work/${path}`))).size > 0)

/** Makes `signers` of config.yaml what is given, and has the server read it. */
async function useSigners(stage: Stage, yaml: string): Promise<void> {
  const path = stage.file('plane/config.yaml')
  const others = (await readFile(path, 'utf8')).replace(/^signers:(?: \[\])?\n(?: .*\n)*/m, '')
  await writeFile(path, `${others}${yaml}`)
  const {pid} = JSON.parse(await readFile(stage.file('plane/server.json'), 'utf8')) as {pid: number}
  process.kill(pid, 'SIGHUP')
}

const PLAIN_SIGNER = `signers:
  - name: example.com/services
    certificate: /etc/trustadm/services-ca.crt
    key: /etc/trustadm/services-ca.key
    usages: [digital signature, key encipherment, server auth]
    names: [dns, ips]
`

const signed = (stage: Stage, yaml: string) => useSigners(stage, stage.typed(yaml))

export const requests: Step[] = [
  step('trustadm certificate request --user ann --group developers --kubeconfig-out ann.conf', {
    async meanwhile(stage) {
      await until(async () => (await stage.client.csrs.list()).items.length > 0)
      const {code, stdout} = await stage.answer('trustadm certificate review', [
        ['quit', `${DOWN}\r`],
      ])
      assert.equal(code, 0, stdout)
      assert.match(stdout, /1 approved/)
    },
    then: readable('ann.conf'),
  }),
  step('trustadm certificate review', {
    first: (stage) => ask(stage, 'reviewed', 'cleo'),
    answers: [['quit', `${DOWN}\r`]],
    shows: /1 approved/,
  }),
  step('trustadm certificate request --user ada --group developers --kubeconfig-out ada.conf', {
    async meanwhile(stage) {
      let name: string | undefined
      await until(async () => {
        const {items} = await stage.client.csrs.list()
        name = items.find(({status}) => !status?.conditions?.length)?.metadata.name
        return name !== undefined
      })
      await must(stage, `trustadm certificate approve ${name ?? ''}`)
    },
    then: readable('ada.conf'),
  }),
  step('trustadm certificate revoke --file ada.conf', {
    answers: [['Revoke', 'y\r']],
    shows: /revoked the key/,
  }),
  step('trustadm certificate list --state pending', {
    first: (stage) => ask(stage, NODE_CSR, 'dora'),
    shows: /^NAME .*\nnode-csr-3Q2d /,
  }),
  step(`trustadm certificate show ${NODE_CSR}`, {shows: /^name +node-csr-3Q2d/}),
  step(`trustadm certificate deny ${NODE_CSR} --message "not ours"`, {shows: /denied/}),
  step(`trustadm certificate approve ${NODE_CSR}`, {
    first: (stage) => ask(stage, NODE_CSR, 'emil'),
    shows: /approved/,
    then: (stage) =>
      until(async () => Boolean((await stage.client.csrs.get(NODE_CSR)).status?.certificate)),
  }),
  step(`trustadm certificate revoke ${NODE_CSR}`, {
    answers: [['Revoke', 'y\r']],
    shows: /revoked the key/,
  }),
  step(
    'trustadm certificate request prometheus --user prometheus --group system:monitoring --out /etc/prometheus/trustadm',
    {
      meanwhile: (stage) => isThere(stage, 'prometheus').then(() => approvedPrometheus.try(stage)),
      then: async (stage) => assert.ok((await stat(stage.file('prometheus/prometheus.crt'))).size),
    },
  ),
  step(
    'trustadm certificate request web --service web.default.svc,10.96.0.7 --signer example.com/services --out tls',
    {
      first: async (stage) => {
        await makeAuthority(stage.file('services-ca'))
        await signed(stage, PLAIN_SIGNER)
      },
      meanwhile: (stage) => approveLater(stage, 'web'),
    },
  ),
  step('trustadm certificate download web > web.crt', {then: readable('web.crt')}),
  step(
    'trustadm certificate request web --service web.example.com --signer example.com/services --out tls',
    {
      first: async (stage) => {
        await stage.client.csrs.delete('web')
        await rm(stage.file('work/tls'), {recursive: true})
        await signed(stage, blockOf('docs/operations.md', 'signers:'))
      },
      meanwhile: (stage) => isThere(stage, 'web').then(() => approvedWeb.try(stage)),
      then: readable('tls/web.crt'),
    },
  ),
  step('trustadm certificate log', {shows: / web /}),
  step('trustadm certificate log --output wide', {shows: / web /}),
  step('trustadm certificate log --verify'),
  step('trustadm certificate log --head 5f2c9a…', {
    async first(stage) {
      const {head} = JSON.parse(await must(stage, 'trustadm certificate log --verify -o json')) as {
        head: string
      }
      stage.values.set('head', head)
    },
  }),
  step('trustadm certificate log --heads', {shows: /[0-9a-f]{64}:\d+:[0-9a-f]{64}/}),
  step('trustadm certificate log --verify plane-0.log plane-1.log plane-2.log', {
    async first(stage) {
      // Copies of one log agree with each other.
      for (const index of [0, 1, 2]) {
        await copyFile(stage.file('plane/logs/issuance.log'), stage.file(`work/plane-${index}.log`))
      }
    },
    shows: /plane-2\.log: \d+ lines?, the chain is unbroken/,
  }),
]

/** These are typed elsewhere while the requests above wait. */
const approvedPrometheus = step('trustadm certificate approve prometheus', {shows: /approved/})
const approvedWeb = step('trustadm certificate approve web', {shows: /approved/})

export const whileOthersWait: Step[] = [approvedPrometheus, approvedWeb]
