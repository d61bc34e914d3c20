import {readdirSync} from 'node:fs'
import {join} from 'node:path'

/** In an order: the files of the folder itself. */
const FILES = '.'

/**
 * Every folder that has folders, with the order of what is in it: lowest first. Each imports only from those before its own line,
 * never from one beside it, so that no circle can close.
 */
const ORDER = {
  src: [
    ['closest.ts', 'errors.ts'],
    ['phases.ts', 'runtime.ts', 'version.ts'],
    ['fs'],
    ['pki', 'api'],
    ['bootstrap', 'csr', 'trust'],
    ['storage', 'client'],
    ['discovery', 'controllers', 'enrollment', 'server'],
    ['node'],
    ['control-plane'],
    ['cli'],
    ['commands'],
    ['main.ts'],
  ],
  'src/api': [['schema'], [FILES]],
  'src/storage': [[FILES], ['etcd']],
  'src/controllers': [['kernel'], ['approval', 'signing'], [FILES]],
  'src/server': [
    ['kernel'],
    ['health', 'limits', 'metrics', 'patch', 'table', 'validation'],
    ['codec', 'discovery', 'http', 'managed-fields', 'selectors'],
    ['authz', 'openapi'],
    ['admission', 'audit', 'authn'],
    ['registry', 'resources'],
    [FILES],
  ],
  'src/server/admission': [['node-restriction'], [FILES]],
  'src/server/authz': [['rbac'], ['bootstrap-policy', FILES], ['node']],
  'src/node': [[FILES], ['certificate-manager'], ['agent', 'join']],
  'src/control-plane': [
    ['machines', 'requests', 'revocation', 'tokens'],
    ['nodes'],
    ['config'],
    [FILES],
    ['init'],
    ['backup', 'bootstrap-credentials', 'ca-rotation', 'existing', 'join-plane', 'kubeadm-folders'],
  ],
  'src/cli': [[FILES], ['views'], ['node', 'requests', 'rotation']],
  'src/commands/ca': [['rotate'], [FILES]],
  'src/commands': [
    [
      'bootstrap-credential',
      'ca',
      'certificate',
      'init',
      'join',
      'kubeconfig',
      'machine',
      'node',
      'token',
    ],
    [FILES],
  ],
}

/** The folders right under src/. */
export const TOP_FOLDERS = ORDER.src.flat().filter((name) => !name.endsWith('.ts'))

const pathOf = (folder, name) => `${folder}/${name === FILES ? '*.ts' : name}`

/** Fails where the order leaves something out or names what is gone. */
function orderOf(folder, entries) {
  const order = ORDER[folder] ?? []
  const listed = order.flat()
  const present = entries.map((entry) =>
    entry.isDirectory() || !listed.includes(FILES) ? entry.name : FILES,
  )
  const unlisted = present.filter((name) => !listed.includes(name))
  const gone = listed.filter((name) => !present.includes(name))
  if (unlisted.length === 0 && gone.length === 0) return order
  const changes = [...unlisted.map((name) => `+${name}`), ...gone.map((name) => `-${name}`)]
  throw new Error(`eslint.layers.js: the order of ${folder} needs ${changes.join(' ')}`)
}

/** What `import-x/no-restricted-paths` has to forbid so that the order holds, in the folder and below it. */
export function zonesOf(folder) {
  const entries = readdirSync(join(import.meta.dirname, folder), {withFileTypes: true})
  const folders = entries.filter((entry) => entry.isDirectory())
  if (folders.length === 0) return []
  const order = orderOf(folder, entries)
  const own = order.flatMap((line, height) =>
    line.flatMap((name) => {
      const target = pathOf(folder, name)
      const beside = line.filter((other) => other !== name)
      return [...beside, ...order.slice(height + 1).flat()].map((other) => {
        const from = pathOf(folder, other)
        return {
          target,
          from,
          message: `${target} may not import from ${from}: see eslint.layers.js`,
        }
      })
    }),
  )
  return [...own, ...folders.flatMap(({name}) => zonesOf(`${folder}/${name}`))]
}
