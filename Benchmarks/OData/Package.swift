// swift-tools-version: 6.1

import PackageDescription

// Processor time of OData calls: `Benchmarks/odata`. A package of its own, which fetches nothing.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "web-service-client-odata-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "web-service-client", path: "../..")],
    targets: [
        .executableTarget(
            name: "odata-calls",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"), .product(name: "OData", package: "web-service-client"),
            ],
            path: "Sources/Calls", swiftSettings: settings)
    ]
)
