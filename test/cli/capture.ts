/** What was written to the standard streams while the work was done. */
export async function captured<Result>(
  work: () => Promise<Result>,
): Promise<{stdout: string; stderr: string; result: Result}> {
  const texts = {stdout: '', stderr: ''}
  const names = ['stdout', 'stderr'] as const
  const originals = names.map((name) => process[name].write)
  for (const name of names) {
    process[name].write = (text: string | Uint8Array) => {
      texts[name] += String(text)
      return true
    }
  }
  try {
    const result = await work()
    return {result, ...texts}
  } finally {
    for (const [index, name] of names.entries()) process[name].write = originals[index]!
  }
}
