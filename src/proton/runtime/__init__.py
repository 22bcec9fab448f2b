"""Recording: sessions, scopes, states, hooks. Never imports analysis or rendering."""
