import Foundation

// Start with Quickstart.swift, then read Catalogue.swift and the three jobs: RESTJob.swift, QueryJob.swift, LoggingJob.swift.
exit(await Quickstart.run(Array(CommandLine.arguments.dropFirst())))
