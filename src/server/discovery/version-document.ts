import {KUBERNETES_VERSION, VERSION} from '../../version.ts'

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = {x64: 'amd64', ia32: '386'}

/** Kubernetes' builds without a date of their own carry the epoch's. */
const NO_BUILD_DATE = '1970-01-01T00:00:00Z'

/** `/version`: the Kubernetes release that this server behaves like, marked as a build of trustadm. */
export function versionDocument() {
  const [major = '', minor = ''] = KUBERNETES_VERSION.slice(1).split('.')
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `${KUBERNETES_VERSION}+trustadm.${VERSION}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: NO_BUILD_DATE,
    // Clients only display these two, so they describe the real program.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${ARCHITECTURES[process.arch] ?? process.arch}`,
  }
}
