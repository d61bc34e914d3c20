import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {stringify} from 'yaml'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import {textSecret} from './secrets.ts'

export const TOKEN_ID = 'kanari'
export const SECRETS = {
  token: textSecret('the token', 'w7q2z9x4v1m8k5r3'),
  malformed: textSecret('the malformed token', 'k4n8r1m4lf0rm3d9x2'),
  bearer: textSecret('the bearer token', 'b34r3r-c4n8ry-t0k3n-7x9q2w'),
  password: textSecret('the password', 'p4ssw0rd-c4n8ry-5v1m8k'),
  brokenKey: textSecret('the unreadable key', 'bm90LWEta2V5LWJ1dC1hLWNhbmFyeS03eDlxMnc0'),
  certificateKey: textSecret('the certificate key', `c4n8ry${'9f3b7d5e'.repeat(7)}`),
}

const text = (secret: keyof typeof SECRETS) => SECRETS[secret].value.toString()
/** A token that lets machines in, in the cluster of the place. */
export const TOKEN = `${TOKEN_ID}.${text('token')}`
/** The same secret under an id that is not there. */
export const UNKNOWN = `nobody.${text('token')}`
export const MALFORMED = `${TOKEN_ID}.${text('malformed')}`

/** Where the commands run: a folder with everything that a secret may come from. */
export interface Place {
  folder: string
  dir: string
  kubeconfig: string
  endpoint: string
  /** A file with the token, and one with what is none. */
  tokenFile: string
  malformedFile: string
  /** Kubeconfigs of the cluster with secrets that it does not know, and one that is no YAML. */
  bearerConfig: string
  passwordConfig: string
  brokenConfig: string
  brokenKey: string
  /** Configurations of kubeadm with a token in each; the second has it where none belongs. */
  joinConfig: string
  malformedInit: string
  /** Where the cluster is backed up, with the token as passphrase. */
  backup: string
  remove: () => Promise<void>
}

const joinConfiguration = (endpoint: string) => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'JoinConfiguration',
  discovery: {
    bootstrapToken: {
      token: TOKEN,
      apiServerEndpoint: endpoint,
      unsafeSkipCAVerification: true,
    },
  },
})

const initConfiguration = {
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'InitConfiguration',
  bootstrapTokens: [{token: MALFORMED}, {[text('malformed')]: MALFORMED}],
}

export interface CanaryCluster {
  dir: string
  kubeconfig: string
}

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'trustadm-canary-'))

/** Puts secrets into files of every kind, beside a cluster that runs. */
export async function furnish(folder: string, {dir, kubeconfig}: CanaryCluster): Promise<Place> {
  const write = async (name: string, content: string): Promise<string> => {
    const file = join(folder, name)
    await writeFile(file, content, {mode: 0o600})
    return file
  }
  const admin = parseKubeconfig(await readFile(kubeconfig, 'utf8'))
  const withUser = (user: object) =>
    stringify({...admin, users: admin.users.map(({name}) => ({name, user}))})
  const endpoint = new URL(admin.clusters[0]?.cluster.server ?? '').host
  const pem = `-----BEGIN PRIVATE KEY-----\n${text('brokenKey')}\n-----END PRIVATE KEY-----\n`
  return {
    folder,
    dir,
    kubeconfig,
    endpoint,
    tokenFile: await write('token.txt', TOKEN),
    malformedFile: await write('malformed.txt', MALFORMED),
    bearerConfig: await write('bearer.conf', withUser({token: text('bearer')})),
    passwordConfig: await write(
      'password.conf',
      withUser({username: 'ada', password: text('password')}),
    ),
    brokenConfig: await write('broken.conf', `users: [{token: "${text('bearer')}", {{`),
    brokenKey: await write('broken.key', pem),
    joinConfig: await write('join.yaml', stringify(joinConfiguration(endpoint))),
    malformedInit: await write('init.yaml', stringify(initConfiguration)),
    backup: join(folder, 'plane.backup'),
    remove: () => rm(folder, {recursive: true, force: true}),
  }
}
