# What belongs to the command: its man page, and its completions where the shells look for them.
set(ADIT_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh finds completions")
set(packaging ${CMAKE_CURRENT_SOURCE_DIR}/packaging)
install(FILES ${packaging}/man/adit.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${packaging}/completions/adit.bash RENAME adit
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${packaging}/completions/_adit DESTINATION ${ADIT_ZSH_FOLDER})
install(FILES ${packaging}/completions/adit.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
