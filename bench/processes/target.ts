/** Where a load goes and who sends it. */
export interface Target {
  port: number
  ca: string
  certificate: string
  key: string
}

/** What a process has used so far. */
export interface Usage {
  /** Microseconds on a processor, in user code and in the kernel. */
  cpu: number
  /** Resident bytes. */
  memory: number
}

export function usage(): Usage {
  const {user, system} = process.cpuUsage()
  return {cpu: user + system, memory: process.memoryUsage.rss()}
}
