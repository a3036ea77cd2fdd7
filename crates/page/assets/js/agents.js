// Agents.
