import Foundation

exit(await ExampleRun.run(Array(CommandLine.arguments.dropFirst())))
