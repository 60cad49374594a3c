"""The `bezmen` command."""

import typer

from app.commands import database, demo, runner, serve, submit, token, toy

main = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Weighs speculative decoding on your hardware, in your language, under your load."
)
main.command()(serve.serve)
main.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(runner.runner)
main.command()(submit.submit)
main.command()(submit.wait)
main.command()(demo.demo)
main.command()(toy.toy)
main.add_typer(token.app, name="token")
main.add_typer(database.app, name="db")

if __name__ == "__main__":
    main()
