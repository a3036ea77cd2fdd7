// Understory in opencode: an agent is told what is new, and an idle one is woken by a message.
// Save this as ~/.config/opencode/plugins/understory.js, or in .opencode/plugins of a repository. Printed
// by `understory hook config opencode`.

import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"

const UNDERSTORY = "understory"
const MOST = 1_000_000 // characters of a prompt

export const Understory = async ({ client, directory }) => {
  const headless = process.argv.includes("run") // it ends with its turn
  const began = Date.now()
  const forgot = new Set() // chats that were compacted since they were told anything
  let chat // the one that was last written in; one MCP server serves all of them
  let turn // the message that is answered in it, or was
  let as // the agent and the model that answer, such as an agent that only plans

  // Runs a hook of ours, one after the other; it is silent whatever goes wrong. What it says is for
  // the model.
  let before = Promise.resolve()
  const hook = (event, fields) => {
    const input = { event, session_id: chat, turn_id: turn, cwd: directory, ...fields }
    return (before = before.then(() => run(input)))
  }
  const run = (input) =>
    new Promise((done) => {
      let said = ""
      const words = ["hook", input.event, "--client", "opencode", "--process", `${process.pid}`]
      const child = spawn(UNDERSTORY, words, { stdio: ["pipe", "pipe", "ignore"] })
      child.on("error", () => done())
      child.on("close", () => {
        try {
          done(JSON.parse(said).context)
        } catch {
          done()
        }
      })
      child.stdout.on("data", (part) => (said += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(input))
    })

  // opencode listens on no port unless it is told to, and its own prompt_async goes on as the default
  // agent. So prompts come in here: from this machine, and at an address that cannot be guessed.
  const secret = randomBytes(16).toString("hex")
  const door = createServer((request, response) => {
    let body = ""
    const answer = (status) => response.writeHead(status).end()
    request.setEncoding("utf8")
    request.on("data", (part) => {
      body += part
      if (body.length > MOST) request.destroy()
    })
    request.on("end", async () => {
      const path = `/${secret}/session/${chat}/prompt_async`
      if (request.method !== "POST" || request.url !== path) return answer(404)
      try {
        const parts = JSON.parse(body).parts.map(({ text }) => ({ type: "text", text }))
        const sent = await client.session.promptAsync({ path: { id: chat }, body: { ...as, parts } })
        answer(sent.error ? 502 : 204)
      } catch {
        answer(400)
      }
    })
  })
  const address = await new Promise((done) => {
    door.on("error", () => done())
    if (headless) return done()
    door.listen(0, "127.0.0.1", () => done(`http://127.0.0.1:${door.address().port}/${secret}`))
  })
  door.unref()

  // Why a chat begins now; nothing if it goes on, or is a subagent's.
  const begins = async (id) => {
    if (id === chat) return forgot.delete(id) ? "compact" : undefined
    const { data } = await client.session.get({ path: { id } })
    if (!data || data.parentID) return
    if (chat) return "clear"
    return data.time.created < began ? "resume" : "startup"
  }

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const source = await begins(sessionID)
      if (!source && sessionID !== chat) return
      chat = sessionID
      turn = message.id
      as = { agent: message.agent, model: message.model, variant: message.model?.variant }
      const told = [
        source && (await hook("session-start", { source, address })),
        await hook("prompt"),
      ]
      for (const text of told.filter(Boolean)) {
        // The model reads parts in the order of their ids.
        const id = `${parts.at(-1)?.id ?? "prt_"}u`
        parts.push({ id, sessionID, messageID: turn, type: "text", text, synthetic: true })
      }
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (sessionID === chat) await hook("pre-compact")
    },
    event: async ({ event: { type, properties } }) => {
      const id = properties.sessionID ?? properties.info?.id
      if (type === "session.compacted") forgot.add(id)
      if (!chat || id !== chat) return
      if (type === "session.idle") await hook("stop")
      if (type === "session.deleted") {
        await hook("session-end")
        chat = undefined
      }
    },
    dispose: async () => {
      door.close()
      if (chat) await hook("session-end")
    },
  }
}
