"""What a hand-in may try to do to whoever looks at its page."""

HOSTILE = (
    "<script>document.title='ran'</script>",
    "</script><script>document.title='ran'</script>",
    "</style><script>document.title='ran'</script>",
    '"><img src=x onerror="document.title=\'ran\'">',
    "' autofocus onfocus='document.title=\"ran\"",
    "<svg onload=document.title='ran'>",
    "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\">",
    "javascript:document.title='ran'",
    "<a href=javascript:document.title='ran'>x</a>",
    "{{ cycler.__init__.__globals__ }} {% raw %}",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
    "--><!-- ]]> <![CDATA[ &lt;script&gt;",
    "%n %all %what $& $1 \\u003cscript\\u003e \u202e",
)
