rootProject.name = "words"
include("app")
