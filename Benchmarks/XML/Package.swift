// swift-tools-version: 6.1

import PackageDescription

// Measures another coder of XML, for Benchmarks/streams. A separate package, so that nothing else fetches that coder.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "web-service-client-xml-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/CoreOffice/XMLCoder", exact: "0.18.2")],
    targets: [
        .executableTarget(name: "xml-comparison", dependencies: ["XMLCoder"], path: "Sources/Comparison", swiftSettings: settings)
    ]
)
