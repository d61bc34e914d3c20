import type {ConfigMap} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'

type Maps = Pick<ApiClient, 'configMaps'>

interface MapName {
  namespace: string
  name: string
}

const ATTEMPTS = 5

/** Writes or removes the entry of one reporter in a ConfigMap that several share. */
export async function writeEntry(
  {configMaps}: Maps,
  map: MapName,
  key: string,
  entry: object | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await configMaps.find(map)
      const {[key]: _own, ...others} = found?.data ?? {}
      const data = entry ? {...others, [key]: JSON.stringify(entry)} : others
      const wanted: ConfigMap = {...(found ?? {metadata: map}), data}
      if (found) await configMaps.update(wanted)
      else await configMaps.create(wanted)
      return
    } catch (error) {
      // Another one reports at the same time.
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}

/** The entries of all reporters; undefined for one that cannot be read. */
export async function readEntries({configMaps}: Maps, map: MapName): Promise<[string, unknown][]> {
  const {data = {}} = (await configMaps.find(map)) ?? {}
  return Object.entries(data).map(([key, text]) => [key, parsed(text)])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
