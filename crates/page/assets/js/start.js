// A link that `understory open` opened needs no further click.
$("form[data-go]")?.submit();
document.documentElement.dataset.scheme = localStorage.getItem("understory scheme") ?? "";
expireDrafts();
restoreDrafts();
ages();
setInterval(() => document.hidden || ages(), 60_000);
if (document.body.dataset.events && !document.hidden) follow();
