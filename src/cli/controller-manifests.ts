import {stringify} from 'yaml'
import type {ApiObject} from '../api/meta.ts'
import {namedSigners} from '../control-plane/signing.ts'
import {deploymentManifest} from '../controllers/deployment-manifest.ts'
import {rbacManifest} from '../controllers/rbac-manifest.ts'
import {WELL_KNOWN_SIGNERS} from '../csr/signers.ts'
import {elsewhere, TrustError} from '../errors.ts'
import {readSigningFlags, type SigningFlagValues} from './signing-flags.ts'

export interface ManifestFlags extends SigningFlagValues {
  'print-rbac': boolean
  deployment: boolean
  image: string
  deny: boolean
  'leader-elect': boolean
  'serving-cidr'?: string[] | undefined
  'serving-domain'?: string[] | undefined
}

const SIGNER = 'csr-signer'

/** What `--print-rbac` and `--deployment` print: documents for "kubectl apply -f -". */
export async function controllerManifests(
  flags: ManifestFlags,
  chosen: readonly string[],
  {isNamed, warn}: {isNamed: (controller: string) => boolean; warn: (line: string) => void},
): Promise<string> {
  const objects: ApiObject[] = []
  const controllers = flags.deployment ? withoutSigner(chosen, isNamed, warn) : chosen
  if (flags['print-rbac']) {
    const signing = namedSigners(await readSigningFlags(flags)).map(({name}) => name)
    const signers = signing.length > 0 ? signing : WELL_KNOWN_SIGNERS
    objects.push(...rbacManifest({controllers, signers}))
  }
  if (flags.deployment) {
    const args = argsOf(flags)
    const {image, 'leader-elect': elects} = flags
    objects.push(deploymentManifest({controllers, image, args, elects}))
  }
  return objects
    .map((object) => stringify(object, {lineWidth: 0, aliasDuplicateObjects: false}))
    .join('---\n')
}

/** It needs a CA's key, and a log that outlives its pod: where these are is the operator's decision. */
function withoutSigner(
  chosen: readonly string[],
  isNamed: (controller: string) => boolean,
  warn: (line: string) => void,
): string[] {
  if (isNamed(SIGNER)) {
    throw new TrustError(
      'USAGE',
      `--deployment cannot run ${SIGNER}: it needs a CA's key and a log`,
      {
        hints: [elsewhere('run it on a machine of the control plane, with "trustadm controllers"')],
      },
    )
  }
  if (chosen.includes(SIGNER)) {
    warn(`${SIGNER} is left out: run it on a machine of the control plane`)
  }
  return chosen.filter((name) => name !== SIGNER)
}

const argsOf = (flags: ManifestFlags): string[] => [
  ...(flags.deny ? ['--deny'] : []),
  ...(flags['leader-elect'] ? [] : ['--no-leader-elect']),
  ...(flags['serving-cidr'] ?? []).flatMap((range) => ['--serving-cidr', range]),
  ...(flags['serving-domain'] ?? []).flatMap((domain) => ['--serving-domain', domain]),
]
