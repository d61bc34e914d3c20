import {formatDuration} from '../../bootstrap/durations.ts'
import {
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
  type WellKnownSigner,
} from '../../csr/signers.ts'
import type {AuthorityFiles} from '../../pki/authority.ts'
import {duration, invalid, mapOf, type Read, text} from './fields.ts'

/** What Kubernetes' signers sign with, as in kube-controller-manager's --cluster-signing flags. */
export interface ClusterSigning {
  /** For every signer without its own files. */
  files?: AuthorityFiles | undefined
  filesOf: Partial<Record<WellKnownSigner, AuthorityFiles>>
  /** The longest lifetime, in milliseconds. */
  duration?: number | undefined
}

/** The signers by the names of their flags in kube-controller-manager, as a configuration spells them. */
const SIGNERS = {
  kubeAPIServerClient: API_SERVER_CLIENT,
  kubeletClient: KUBELET_CLIENT,
  kubeletServing: KUBELET_SERVING,
  legacyUnknown: LEGACY_UNKNOWN,
} as const satisfies Record<string, WellKnownSigner>

const PAIR = ['certFile', 'keyFile']
const FIELDS = ['duration', ...PAIR, ...Object.keys(SIGNERS)]

/** Half a pair is refused: otherwise another CA would sign than the one that was meant. */
function pairOf({certFile, keyFile}: Record<string, unknown>, name: string) {
  if ((certFile ?? keyFile) === undefined) return undefined
  for (const [field, value] of Object.entries({certFile, keyFile})) {
    if (value === undefined) throw invalid(`${name}.${field} is missing`)
  }
  return {
    certificate: text(certFile, `${name}.certFile`),
    key: text(keyFile, `${name}.keyFile`),
  }
}

/** `clusterSigning` of the configuration. */
export const clusterSigning: Read<ClusterSigning> = (value, name) => {
  const map = mapOf(value, name, FIELDS)
  const filesOf: ClusterSigning['filesOf'] = {}
  for (const [field, signer] of Object.entries(SIGNERS)) {
    if (map[field] === undefined) continue
    const place = `${name}.${field}`
    const pair = pairOf(mapOf(map[field], place, PAIR), place)
    if (pair) filesOf[signer] = pair
  }
  const files = pairOf(map, name)
  return {
    ...(files && {files}),
    filesOf,
    ...(map.duration !== undefined && {duration: duration(map.duration, `${name}.duration`)}),
  }
}

const written = ({certificate, key}: AuthorityFiles) => ({certFile: certificate, keyFile: key})

/** As the configuration has it. */
export const formatClusterSigning = ({files, filesOf, duration: longest}: ClusterSigning) => ({
  ...(longest !== undefined && {duration: formatDuration(longest)}),
  ...(files && written(files)),
  ...Object.fromEntries(
    Object.entries(SIGNERS).flatMap(([field, signer]) => {
      const pair = filesOf[signer]
      return pair ? [[field, written(pair)]] : []
    }),
  ),
})

/** The settings that were given now, in front of those that are stored. */
export const withStored = (
  given: ClusterSigning,
  stored: ClusterSigning = {filesOf: {}},
): ClusterSigning => ({
  files: given.files ?? stored.files,
  filesOf: {...stored.filesOf, ...given.filesOf},
  duration: given.duration ?? stored.duration,
})
