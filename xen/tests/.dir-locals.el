((c-mode . ((c-file-style . "BSD")
            (c-basic-offset . 4)
            (indent-tabs-mode . nil))))
