# Writes a source that holds files as text: cmake -DFILES=a,b -DOUTPUT=x.cpp -P EmbedFiles.cmake. The header of what it
# defines is src/cli/models/embedded.hpp.
string(REPLACE "," ";" FILES "${FILES}")
set(text "#include \"cli/models/embedded.hpp\"\nnamespace adit::examples {\nconst EmbeddedFile embedded_files[] = {\n")
set(count 0)
foreach(path ${FILES})
  get_filename_component(name ${path} NAME)
  file(READ ${path} content)
  string(APPEND text "{\"${name}\", R\"adit(${content})adit\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "};\nconst int embedded_count = ${count};\n}\n")
file(WRITE ${OUTPUT} "${text}")
