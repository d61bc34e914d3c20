import {TrustError} from '../../errors.ts'
import type {Read} from './fields.ts'

/** What an operator can switch off. */
const FEATURE_GATES = ['CARotation'] as const
type FeatureGate = (typeof FEATURE_GATES)[number]
export type FeatureGates = Partial<Record<FeatureGate, boolean>>

const isGate = (name: string): name is FeatureGate => FEATURE_GATES.some((gate) => gate === name)

/** `featureGates` of the configuration. */
export const featureGates: Read<FeatureGates> = (value, name) => {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap)
    throw new TrustError('CONFIG_INVALID', `${name} must be a map of gates to true or false`)
  const gates: FeatureGates = {}
  for (const [gate, isOn] of Object.entries(value)) {
    if (!isGate(gate)) {
      throw new TrustError('CONFIG_INVALID', `${name} has an unknown gate "${gate}"`, {
        hints: [`the gates are ${FEATURE_GATES.join(', ')}`],
      })
    }
    if (typeof isOn !== 'boolean')
      throw new TrustError('CONFIG_INVALID', `${name}.${gate} must be true or false`)
    gates[gate] = isOn
  }
  return gates
}

/** Refuses what an operator has switched off. All gates are on by default. */
export function requireGate(gates: FeatureGates | undefined, gate: FeatureGate): void {
  if (gates?.[gate] !== false) return
  throw new TrustError('FORBIDDEN', `the feature gate ${gate} is off`, {
    hints: [`remove "${gate}: false" from featureGates in config.yaml to allow it`],
  })
}
