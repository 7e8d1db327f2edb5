"""A small agent that shows how to build on Sightline. It works with any model that Pydantic AI reaches."""

PUBLIC = ("agent", "model_client", "runner")
