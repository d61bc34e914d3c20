import type {InstalledUnit, RemovedUnit} from '../../node/systemd-unit.ts'

export const plannedUnit = ({path, isOurs}: InstalledUnit): string =>
  isOurs
    ? `would remove the systemd unit ${path}`
    : `would keep the systemd unit ${path}: it was changed since it was installed`

export function unitLines({path, removed, commands}: RemovedUnit): string[] {
  const what = removed ? `removed the systemd unit ${path}` : `the systemd unit ${path} is left`
  return commands.length === 0
    ? [what]
    : [`${what}; run:`, ...commands.map((command) => `  ${command}`)]
}
